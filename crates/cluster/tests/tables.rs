//! Tables in all the shapes in which other programs write them.

#![allow(clippy::unwrap_used)]

mod common;

use std::sync::Arc;

use arrow_array::builder::{ListBuilder, StringBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::{Int8Type, Int32Type, Int64Type, UInt16Type};
use arrow_array::{
    Array, ArrayRef, BinaryArray, BinaryViewArray, BooleanArray, Date32Array, DictionaryArray,
    Float64Array, Int32Array, Int64Array, LargeBinaryArray, LargeStringArray, NullArray,
    StringArray, StringViewArray, TimestampMicrosecondArray, UInt8Array, UInt64Array,
};
use twicetold_cluster::{
    Columns, Covering, Given, OutlineColumns, OutlineRow, Outlined, Sheet, SketchColumns,
    SketchRow, VerdictColumns, VerdictRow,
};
use twicetold_model::Form;

use common::{compressed, parquet, read_parquet, read_stream, said, stream};

const MAIL: &[u8] =
    b"From: anna@example.org\n\nThe harbour was closed, \xFF and nobody knew why it was.";
const SHORT: &[u8] = b"From: b\n\nHi";

/// A column of these two messages and nothing, in every type that bytes have.
fn messages() -> Vec<ArrayRef> {
    let both = vec![Some(MAIL), None, Some(SHORT)];
    let values = Arc::new(BinaryArray::from(vec![SHORT, MAIL]));
    let keys = UInt8Array::from(vec![Some(1), None, Some(0)]);
    vec![
        Arc::new(BinaryArray::from(both.clone())),
        Arc::new(LargeBinaryArray::from(both.clone())),
        Arc::new(BinaryViewArray::from_iter(both)),
        Arc::new(DictionaryArray::new(keys, values)),
    ]
}

/// A column of these ids, in every type that names have.
fn ids() -> Vec<ArrayRef> {
    let names = ["7", "an id that is longer than a view holds", "9"];
    vec![
        Arc::new(StringArray::from(names.to_vec())),
        Arc::new(LargeStringArray::from(names.to_vec())),
        Arc::new(StringViewArray::from(names.to_vec())),
        Arc::new(BinaryArray::from_iter_values(names)),
        Arc::new(names.into_iter().collect::<DictionaryArray<Int8Type>>()),
        Arc::new(names.into_iter().collect::<DictionaryArray<Int32Type>>()),
        Arc::new(names.into_iter().collect::<DictionaryArray<UInt16Type>>()),
    ]
}

#[test]
fn every_type_of_text_and_of_bytes_says_the_same() {
    let mut expected = None;
    for message in messages() {
        for id in ids() {
            let columns = vec![("id", id), ("message", Arc::clone(&message))];
            let packed = read_stream(&compressed(columns.clone(), 2)).unwrap();
            let (rows, lost) = read_stream(&stream(columns, &[], 2)).unwrap();
            assert!(lost.is_empty(), "{lost:?}");
            assert_eq!(rows.len(), 6);
            assert_eq!(rows[0].message.as_ref().unwrap().form, Form::Mail);
            let found = said(&rows);
            assert_eq!(said(&packed.0), found);
            assert_eq!(found[0], ("7".to_owned(), Ok(MAIL.to_vec())));
            assert!(
                found[1]
                    .1
                    .as_ref()
                    .unwrap_err()
                    .contains("neither a message")
            );
            assert_eq!(*expected.get_or_insert_with(|| found.clone()), found);
        }
    }
}

#[test]
fn numbers_are_names_and_places() {
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("group", Arc::new(UInt64Array::from(vec![u64::MAX, 1]))),
        ("id", Arc::new(Int32Array::from(vec![-3, 4]))),
        (
            "path",
            Arc::new(StringArray::from(vec![Some("in.mbox"), None])),
        ),
        (
            "offset",
            Arc::new(Float64Array::from(vec![Some(12.0), None])),
        ),
        ("message", Arc::new(BinaryArray::from(vec![MAIL, SHORT]))),
        ("unused", Arc::new(BooleanArray::from(vec![true, false]))),
    ];
    let (rows, _) = read_stream(&stream(columns, &[], 1)).unwrap();
    assert_eq!(rows[0].group.as_deref(), Some("18446744073709551615"));
    assert_eq!(
        (rows[0].id.as_str(), rows[0].location.to_string()),
        ("-3", "in.mbox@12".to_owned())
    );
    assert_eq!(
        (rows[1].id.as_str(), rows[1].location.to_string()),
        ("4", "4".to_owned())
    );
}

#[test]
fn texts_become_the_line_that_they_would_be() {
    let mut references = ListBuilder::new(StringBuilder::new());
    references.append_value([Some("a@x"), Some("b@x")]);
    references.append_null();
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("id", Arc::new(StringArray::from(vec!["x1", "x2"]))),
        (
            "text",
            Arc::new(LargeStringArray::from(vec!["Hi \"you\"", "Ho"])),
        ),
        (
            "subject",
            Arc::new(StringArray::from(vec![Some("s"), None])),
        ),
        (
            "date",
            Arc::new(TimestampMicrosecondArray::from(vec![Some(1_500_000), None])),
        ),
        ("references", Arc::new(references.finish())),
        ("message", Arc::new(NullArray::new(2))),
    ];
    let (rows, _) = read_stream(&stream(columns, &[], 1)).unwrap();
    assert_eq!(rows[0].message.as_ref().unwrap().form, Form::Json);
    let found = said(&rows);
    let line =
        br#"{"id":"x1","text":"Hi \"you\"","subject":"s","date":1,"references":["a@x","b@x"]}"#;
    assert_eq!(found[0].1, Ok(line.to_vec()));
    assert_eq!(found[1].1, Ok(br#"{"id":"x2","text":"Ho"}"#.to_vec()));
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("text", Arc::new(StringArray::from(vec!["Hi"]))),
        ("date", Arc::new(Date32Array::from(vec![2]))),
    ];
    let (rows, _) = read_stream(&stream(columns, &[], 1)).unwrap();
    assert_eq!(
        said(&rows)[0],
        (
            "x.arrow@0".to_owned(),
            Ok(br#"{"text":"Hi","date":172800}"#.to_vec())
        )
    );
}

#[test]
fn a_poison_row_is_a_row_and_a_strange_column_spoils_only_its_rows() {
    // What calls itself a text and is none: made of bytes that a stream of bytes has.
    let bad = stream(
        vec![
            (
                "id",
                Arc::new(BinaryArray::from(vec![
                    b"aa".as_slice(),
                    b"\xFF\xFE",
                    b"cc",
                ])) as ArrayRef,
            ),
            ("text", Arc::new(StringArray::from(vec!["x", "y", "z"]))),
        ],
        &[],
        1,
    );
    let (rows, lost) = read_stream(&bad).unwrap();
    assert_eq!((rows.len(), lost.len()), (3, 0));
    assert!(rows[1].message.is_err() && rows[2].message.is_ok());
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("id", Arc::new(BooleanArray::from(vec![Some(true), None]))),
        ("text", Arc::new(StringArray::from(vec!["x", "y"]))),
    ];
    let (rows, _) = read_stream(&stream(columns, &[], 1)).unwrap();
    assert!(
        said(&rows)
            .iter()
            .all(|(_, said)| said.as_ref().unwrap_err().contains("the id is neither"))
    );
}

#[test]
fn tables_that_are_not_ours_are_refused() {
    let text = || Arc::new(StringArray::from(vec!["x"])) as ArrayRef;
    let newer = stream(vec![("text", text())], &[("twicetold.schema", "7")], 1);
    let refused = read_stream(&newer).unwrap_err();
    assert!(
        refused.what.contains("schema 7") && refused.what.contains("schema 1"),
        "{refused}"
    );
    let foreign = stream(vec![("words", text())], &[], 1);
    assert!(
        read_stream(&foreign)
            .unwrap_err()
            .what
            .contains("it has words")
    );
    // Engines lose what stands beside the columns; the rows of a newer version say it themselves.
    let rows = stream(
        vec![
            ("schema", Arc::new(Int64Array::from(vec![2])) as ArrayRef),
            ("method", text()),
            ("text", text()),
        ],
        &[],
        1,
    );
    let (rows, _) = read_stream(&rows).unwrap();
    assert!(said(&rows)[0].1.as_ref().unwrap_err().contains("schema 2"));
}

#[test]
fn arrow_files_are_streams_too() {
    let columns = || vec![("message", messages().remove(0))];
    let bytes = stream(columns(), &[], 1);
    let file = [
        b"ARROW1\0\0".as_slice(),
        &bytes,
        b"a table of contents ARROW1",
    ]
    .concat();
    assert_eq!(
        said(&read_stream(&file).unwrap().0),
        said(&read_stream(&bytes).unwrap().0)
    );
    assert!(read_stream(b"ARROW2\0\0").unwrap().1[0].contains("no Arrow stream"));
}

#[test]
fn what_is_written_can_be_read() {
    let mut out = Vec::new();
    {
        let mut sheet = Sheet::new(&mut out, SketchColumns::new(true)).unwrap();
        for n in 0..10_000_u64 {
            sheet
                .push(SketchRow {
                    id: format!("m{n}"),
                    path: "in.mbox".to_owned(),
                    offset: Some(n),
                    form: Some("text"),
                    keys: vec![n, u64::MAX],
                    sketch: Some(vec![1]),
                    message: (n % 3 > 0).then(|| n.to_string().into_bytes()),
                    ..SketchRow::default()
                })
                .unwrap();
        }
        sheet.finish().unwrap();
    }
    let (rows, lost) = read_stream(&out).unwrap();
    assert_eq!((rows.len(), lost.len()), (10_000, 0));
    assert_eq!(rows[7].location.to_string(), "in.mbox@7");
    assert_eq!(said(&rows)[7], ("m7".to_owned(), Ok(b"7".to_vec())));
    assert!(rows[9].message.is_err());
    assert!(
        !SketchColumns::new(false)
            .schema()
            .fields()
            .iter()
            .any(|field| field.name() == "message")
    );

    let mut out = Vec::new();
    let mut sheet = Sheet::new(&mut out, VerdictColumns::default()).unwrap();
    let covering = Covering {
        path: "p".to_owned(),
        offset: None,
        message_id: None,
        containment: 1.0,
    };
    sheet
        .push(VerdictRow {
            schema: 1,
            path: "p".to_owned(),
            offset: None,
            message_id: None,
            verdict: "redundant",
            category: Some("copy"),
            keep: false,
            covered_by: vec![covering.clone(), covering],
            residue: Vec::new(),
            thread: None,
            problems: Vec::new(),
            given: Some(Given {
                group: Some("g".to_owned()),
                id: "i".to_owned(),
                covered_by_ids: vec!["a".to_owned()],
            }),
        })
        .unwrap();
    sheet.finish().unwrap();
    assert!(read_stream(&out).unwrap_err().what.contains("has verdicts"));
}

#[test]
fn outlines_are_numbers_and_bytes_and_their_messages_can_be_read() {
    let unread = OutlineRow::new(
        "b".to_owned(),
        "b".to_owned(),
        None,
        vec!["gone".to_owned()],
    );
    let read = OutlineRow {
        outline: Some(Outlined {
            form: "text",
            bytes: 2,
            copy: Some("c".to_owned()),
            id_hash: Some(-1),
            asks: vec![i64::MIN, 7],
            words: Some(vec![1, 2, 3]),
            news: Some(Vec::new()),
            message: Some(b"Hi".to_vec()),
            ..Outlined::default()
        }),
        ..OutlineRow::new("a".to_owned(), "a".to_owned(), Some(5), Vec::new())
    };
    let mut columns = OutlineColumns::new(true);
    for row in [&read, &unread] {
        columns.push(row.clone());
    }
    let batch = columns.take().unwrap();
    let column = |name: &str| batch.column_by_name(name).unwrap();
    let asks = column("asks").as_list::<i32>();
    assert_eq!(
        asks.value(0).as_primitive::<Int64Type>().values().to_vec(),
        [i64::MIN, 7]
    );
    assert!(asks.is_null(1) && column("words").is_null(1) && column("short").is_null(1));
    assert_eq!(column("words").as_binary::<i32>().value(0), [1, 2, 3]);
    assert_eq!(column("news").as_binary::<i32>().value(0), [0_u8; 0]);
    assert_eq!(column("copy").as_string::<i32>().value(0), "c");
    let metadata = batch.schema().metadata().clone();
    assert_eq!(metadata["twicetold.rows"], "outlines");
    assert_eq!(metadata["twicetold.schema"], "1");
    // JSON lines have the same members as the table has columns.
    let json = serde_json::to_value(&read).unwrap();
    let mut named: Vec<&String> = json.as_object().unwrap().keys().collect();
    let schema = batch.schema();
    let mut fields: Vec<&String> = schema.fields().iter().map(|field| field.name()).collect();
    named.sort();
    fields.sort();
    assert_eq!(named, fields);
    assert_eq!(json["words"], "AQID");

    let mut out = Vec::new();
    let mut sheet = Sheet::new(&mut out, OutlineColumns::new(true)).unwrap();
    sheet.push(read).unwrap();
    sheet.push(unread).unwrap();
    sheet.finish().unwrap();
    let (rows, lost) = read_stream(&out).unwrap();
    assert_eq!(lost.len(), 0);
    assert_eq!(rows[0].location.to_string(), "a@5");
    assert_eq!(said(&rows)[0].1, Ok(b"Hi".to_vec()));
    assert!(rows[1].message.is_err());
}

#[test]
fn parquet_says_what_arrow_says() {
    let rows: [(i64, Option<&[u8]>); 3] = [(7, Some(MAIL)), (8, None), (9, Some(SHORT))];
    let (found, lost) = read_parquet(&parquet(&rows, 3)).unwrap();
    assert!(lost.is_empty(), "{lost:?}");
    assert_eq!(found.len(), 9);
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("id", Arc::new(Int64Array::from(vec![7, 8, 9]))),
        ("message", messages().remove(0)),
    ];
    assert_eq!(
        said(&found),
        said(&read_stream(&stream(columns, &[], 3)).unwrap().0)
    );
    let many: Vec<(i64, Option<&[u8]>)> = (0..5_000).map(|n| (n, Some(MAIL))).collect();
    let (found, _) = read_parquet(&parquet(&many, 1)).unwrap();
    assert_eq!(found.len(), 5_000);
    assert_eq!(found[4_321].id, "4321");
    let (found, lost) = read_parquet(&parquet(&[], 2)).unwrap();
    assert_eq!((found.len(), lost.len()), (0, 0));
}
