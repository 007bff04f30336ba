import protobuf from 'protobufjs';

/**
 * Messages of OpenTelemetry's protocol for logs, version 1 (opentelemetry/proto/{logs,common,resource,collector}), without the fields that are
 * not stored.
 */
const proto = `
syntax = "proto3";
message ExportLogsServiceRequest { repeated ResourceLogs resource_logs = 1; }
message ResourceLogs { Resource resource = 1; repeated ScopeLogs scope_logs = 2; }
message Resource { repeated KeyValue attributes = 1; }
message ScopeLogs { InstrumentationScope scope = 1; repeated LogRecord log_records = 2; }
message InstrumentationScope { string name = 1; string version = 2; repeated KeyValue attributes = 3; }
message LogRecord {
  fixed64 time_unix_nano = 1;
  fixed64 observed_time_unix_nano = 11;
  int32 severity_number = 2;
  string severity_text = 3;
  AnyValue body = 5;
  repeated KeyValue attributes = 6;
  bytes trace_id = 9;
  bytes span_id = 10;
  string event_name = 12;
}
message KeyValue { string key = 1; AnyValue value = 2; }
message AnyValue {
  oneof value {
    string string_value = 1;
    bool bool_value = 2;
    int64 int_value = 3;
    double double_value = 4;
    ArrayValue array_value = 5;
    KeyValueList kvlist_value = 6;
    bytes bytes_value = 7;
  }
}
message ArrayValue { repeated AnyValue values = 1; }
message KeyValueList { repeated KeyValue values = 1; }
message PartialSuccess { int64 rejected_log_records = 1; string error_message = 2; }
message ExportLogsServiceResponse { PartialSuccess partial_success = 1; }
message Status { int32 code = 1; string message = 2; }
`;
const { root } = protobuf.parse(proto);

export const logsRequest = root.lookupType('ExportLogsServiceRequest');
export const logsResponse = root.lookupType('ExportLogsServiceResponse');
export const statusMessage = root.lookupType('Status');
