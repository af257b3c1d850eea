//! The few things in a `style` attribute that decide whether and how text is seen.

/// What a style says; `None` where it says nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Style {
    /// The element and all inside it cannot be seen.
    pub(super) hidden: bool,
    /// Letters have no size; elements inside may give them one again.
    pub(super) sizeless: Option<bool>,
    /// Letters are not drawn; elements inside may draw them again.
    pub(super) invisible: Option<bool>,
    /// Line ends and blanks are kept.
    pub(super) preformatted: Option<bool>,
    /// No space above and below.
    pub(super) tight: bool,
    /// A line is drawn above, as Outlook does before what it quotes.
    pub(super) ruled: bool,
    /// The blue bar at the left with which Outlook marks quoted text.
    pub(super) quote_bar: bool,
}

/// Reads a `style` attribute.
///
/// `mso-hide:all` is no reason to hide anything: it hides from Outlook only, and is commonly set on
/// the very button that all other readers see.
pub(super) fn read(style: &str) -> Style {
    let lower = style.to_ascii_lowercase();
    let mut out = Style::default();
    let (mut clipped, mut flat, mut narrow, mut folded) = (false, false, false, false);
    for declaration in lower.split(';') {
        let Some((name, value)) = declaration.split_once(':') else {
            continue;
        };
        let value = value.trim();
        let value = value.strip_suffix("!important").unwrap_or(value).trim();
        match name.trim() {
            "display" => out.hidden |= value == "none",
            "visibility" => out.invisible = Some(matches!(value, "hidden" | "collapse")),
            "opacity" => out.hidden |= is_zero(value),
            "font-size" => out.sizeless = size(value).or(out.sizeless),
            "font" => {
                let sizes = value.split([' ', '/']).filter_map(size);
                out.sizeless = sizes.into_iter().next().or(out.sizeless);
            }
            "overflow" => clipped |= value == "hidden",
            "height" => flat = is_zero(value),
            "width" => narrow = is_zero(value),
            "max-height" | "max-width" => folded |= is_zero(value),
            "white-space" => {
                out.preformatted = Some(value.starts_with("pre") || value == "break-spaces");
            }
            "margin" => out.tight = value.split(' ').next().is_some_and(is_zero),
            "border-top" => out.ruled = value.contains("solid") && !value.starts_with('0'),
            "border-left" => {
                out.quote_bar = value.starts_with("solid blue 1.5pt")
                    || value.starts_with("blue 1.5pt solid")
                    || value.starts_with("1.5pt solid blue");
            }
            _ => {}
        }
    }
    out.hidden |= (clipped && (flat || narrow || folded)) || (flat && narrow);
    out
}

/// Whether a font size is none at all; `None` if it depends on the element around, or is no size.
fn size(value: &str) -> Option<bool> {
    let relative = value.ends_with('%') || value.ends_with("em") && !value.ends_with("rem");
    if is_zero(value) {
        return Some(true);
    }
    let number = value.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    let named = matches!(
        value,
        "xx-small" | "x-small" | "small" | "medium" | "large" | "x-large" | "xx-large" | "initial"
    );
    ((number && !relative) || named).then_some(false)
}

/// Whether a length or number is zero, whatever its unit.
fn is_zero(value: &str) -> bool {
    let digits = value
        .trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == '%')
        .trim();
    !digits.is_empty() && digits.bytes().all(|b| matches!(b, b'0' | b'.')) && digits.contains('0')
}
