//! Messages of OTLP, written by hand: the receiver must not be its own witness.

/// What is said of a span. All are servers' that failed, of thread 4711.
#[derive(Clone, Debug)]
pub(crate) struct Crafted {
    pub(crate) trace_id: u128,
    pub(crate) id: u64,
    pub(crate) parent: u64,
    pub(crate) name: String,
    pub(crate) begin_ns: u64,
    pub(crate) end_ns: u64,
}

/// A field of a known length (wire type 2).
fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
    let mut all = vec![number << 3 | 2];
    let mut length = bytes.len();
    while length > 0x7f {
        all.push(length as u8 | 0x80);
        length >>= 7;
    }
    all.push(length as u8);
    all.extend_from_slice(bytes);
    all
}

/// A small number (wire type 0).
fn small(number: u8, value: u8) -> Vec<u8> {
    vec![number << 3, value]
}

/// A number of eight bytes (wire type 1).
fn fixed(number: u8, value: u64) -> Vec<u8> {
    [&[number << 3 | 1], &value.to_le_bytes()[..]].concat()
}

fn attribute(key: &str, value: &[u8]) -> Vec<u8> {
    [field(1, key.as_bytes()), field(2, value)].concat()
}

/// `ExportTraceServiceRequest` in protocol buffers.
pub(crate) fn protobuf(service: &str, spans: &[Crafted]) -> Vec<u8> {
    let resource = field(1, &attribute("service.name", &field(1, service.as_bytes())));
    // A scope has a name, which is not read.
    let mut scope = field(1, &field(1, b"library"));
    for span in spans {
        // 4711 as a varint in `int_value`.
        let thread = attribute("thread.id", &[3 << 3, 0xe7, 0x24]);
        let parts = [
            field(1, &span.trace_id.to_be_bytes()),
            field(2, &span.id.to_be_bytes()),
            field(3, b"state=1"),
            field(4, &span.parent.to_be_bytes()),
            field(5, span.name.as_bytes()),
            small(6, 2),
            fixed(7, span.begin_ns),
            fixed(8, span.end_ns),
            field(9, &attribute("http.route", &field(1, b"/"))),
            field(9, &thread),
            small(10, 0),
            field(15, &[field(2, b"boom"), small(3, 2)].concat()),
            vec![16_u8 << 3 | 5 | 0x80, 1, 1, 1, 0, 0],
        ];
        scope.extend(field(2, &parts.concat()));
    }
    field(1, &[field(1, &resource), field(2, &scope)].concat())
}

/// `ExportTraceServiceRequest` in JSON.
pub(crate) fn json(service: &str, spans: &[Crafted]) -> String {
    let spans: Vec<String> = spans.iter().map(json_span).collect();
    let spans = spans.join(",");
    format!(
        r#"{{"resourceSpans":[{{"resource":{{"attributes":[{{"key":"service.name",
        "value":{{"stringValue":"{service}"}}}}],"droppedAttributesCount":0}},"scopeSpans":[{{
        "scope":{{"name":"library"}},"spans":[{spans}]}}]}}]}}"#
    )
}

fn json_span(span: &Crafted) -> String {
    let (trace_id, id, parent) = (span.trace_id, span.id, span.parent);
    let (name, begin_ns, end_ns) = (&span.name, span.begin_ns, span.end_ns);
    format!(
        r#"{{"traceId":"{trace_id:032x}","spanId":"{id:016X}","parentSpanId":"{parent:016x}",
        "name":"{name}","kind":2,"startTimeUnixNano":"{begin_ns}","endTimeUnixNano":{end_ns},
        "attributes":[{{"key":"thread.id","value":{{"intValue":"4711"}}}}],
        "status":{{"message":"boom","code":2}},"flags":257}}"#
    )
}
