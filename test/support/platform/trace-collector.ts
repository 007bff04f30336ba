import { createServer } from 'node:http';
import protobuf from 'protobufjs';
import { closeServer, listen } from '../listen.ts';

/** The messages of OpenTelemetry's protocol for traces, version 1 (opentelemetry/proto/{trace,common,resource,collector}), as far as tests read them. */
const proto = `
syntax = "proto3";
message ExportTraceServiceRequest { repeated ResourceSpans resource_spans = 1; }
message ResourceSpans { Resource resource = 1; repeated ScopeSpans scope_spans = 2; }
message Resource { repeated KeyValue attributes = 1; }
message ScopeSpans { repeated Span spans = 2; }
message Span {
  bytes trace_id = 1;
  bytes span_id = 2;
  bytes parent_span_id = 4;
  string name = 5;
  int32 kind = 6;
  repeated KeyValue attributes = 9;
  Status status = 15;
}
message Status { int32 code = 3; }
message KeyValue { string key = 1; AnyValue value = 2; }
message AnyValue { string string_value = 1; bool bool_value = 2; int64 int_value = 3; double double_value = 4; }
`;
const RequestMessage = protobuf.parse(proto).root.lookupType('ExportTraceServiceRequest');

type KeyValue = { key: string; value: Record<string, unknown> };
type ExportedSpan = {
  traceId: Uint8Array;
  spanId: Uint8Array;
  parentSpanId: Uint8Array;
  name: string;
  kind: number;
  attributes: KeyValue[];
  status?: { code: number };
};
type ExportRequest = {
  resourceSpans: { resource: { attributes: KeyValue[] }; scopeSpans: { spans: ExportedSpan[] }[] }[];
};

/** A received span. `kind` is 2 for a server and 3 for a client. `failed`: its status is an error. */
export type CollectedSpan = {
  service: unknown;
  traceId: string;
  id: string;
  parentId: string;
  name: string;
  kind: number;
  attributes: Record<string, unknown>;
  failed: boolean;
};

/** Starts a collector that receives traces over OTLP/HTTP as protobuf. */
export async function startTraceCollector(): Promise<{
  url: string;
  spans: CollectedSpan[];
  close: () => Promise<void>;
}> {
  const spans: CollectedSpan[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      spans.push(...readSpans(Buffer.concat(chunks)));
      response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end();
    });
  });
  return { url: await listen(server), spans, close: () => closeServer(server) };
}

function readSpans(body: Buffer): CollectedSpan[] {
  const { resourceSpans } = RequestMessage.toObject(RequestMessage.decode(body), {
    arrays: true,
    longs: Number,
  }) as ExportRequest;
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap((scope) =>
      scope.spans.map((span) => ({
        service: toRecord(resource.attributes)['service.name'],
        traceId: toHex(span.traceId),
        id: toHex(span.spanId),
        parentId: toHex(span.parentSpanId ?? new Uint8Array()),
        name: span.name,
        kind: span.kind,
        attributes: toRecord(span.attributes),
        failed: span.status?.code === 2,
      })),
    ),
  );
}

const toHex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

const toRecord = (attributes: KeyValue[]): Record<string, unknown> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
