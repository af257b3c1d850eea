//! Why a message may go, and how that is remembered.

use twicetold_model::{Category, Residue, Witness};

use crate::cache::{
    Reader, Writer, category_number, category_of, read_residues, read_witness, residues,
};

/// Why a message may go.
#[derive(Clone, Debug)]
pub(crate) struct Proven {
    pub(crate) category: Category,
    pub(crate) witnesses: Vec<Witness>,
    pub(crate) residue: Vec<Residue>,
}

/// Writes what was proved; messages are named by the places that `place` gives them.
pub(crate) fn write_proven(
    out: &mut Writer,
    proven: &Option<Proven>,
    place: impl Fn(u32) -> usize,
) {
    out.maybe(proven.as_ref(), |out, proven| {
        out.byte(category_number(proven.category));
        out.list(proven.witnesses.iter(), |out, witness| {
            out.number(place(witness.message) as u64);
            out.hash(witness.containment.to_bits());
        });
        residues(out, &proven.residue);
    });
}

/// Reads what was proved; `places` are the messages by their places.
pub(crate) fn read_proven(from: &mut Reader<'_>, places: &[u32]) -> Option<Option<Proven>> {
    let mut proven = read_proven_as_it_is(from)?;
    for witness in proven.iter_mut().flat_map(|proven| &mut proven.witnesses) {
        witness.message = *places.get(witness.message as usize)?;
    }
    Some(proven)
}

/// The same where the places are what messages are known by.
pub(crate) fn read_proven_as_it_is(from: &mut Reader<'_>) -> Option<Option<Proven>> {
    from.maybe(|from| {
        Some(Proven {
            category: category_of(from.byte()?)?,
            witnesses: from.list(read_witness)?,
            residue: read_residues(from)?,
        })
    })
}
