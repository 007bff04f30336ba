import protobuf from 'protobufjs';

/** Messages of Loki's push API (pkg/push/push.proto) that are stored. */
const proto = `
syntax = "proto3";
message PushRequest { repeated Stream streams = 1; }
message Stream { string labels = 1; repeated Entry entries = 2; }
message Entry { Timestamp timestamp = 1; string line = 2; repeated LabelPair structuredMetadata = 3; }
message Timestamp { int64 seconds = 1; int32 nanos = 2; }
message LabelPair { string name = 1; string value = 2; }
`;

export const pushRequest = protobuf.parse(proto, { keepCase: true }).root.lookupType('PushRequest');
