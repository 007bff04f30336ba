import type { BodyDecoder } from './body-decoder.ts';
import { createBulkDecoder } from './bulk-decoder.ts';
import { createCloudtrailDecoder, createFlowLogDecoder } from './aws-decoders.ts';
import { createHecEventDecoder, createHecRawDecoder, type HecMetadata } from './hec-decoder.ts';
import { createLokiDecoder } from './loki-decoder.ts';
import { createOtlpDecoder } from './otlp-decoder.ts';
import { createSyslogDecoder, type SyslogBatch } from './syslog-decoder.ts';

/** How a body is decoded, with what the decoder needs from the rest of the request. Plain data that can cross threads. */
export type ShipperFormat =
  | { kind: 'bulk'; index: string | undefined }
  | { kind: 'hec-event' | 'hec-raw'; defaults: HecMetadata }
  | { kind: 'otlp' | 'loki'; encoding: 'json' | 'protobuf' }
  | ({ kind: 'syslog' } & SyslogBatch)
  | { kind: 'cloudtrail' | 'vpc-flow'; dataset: string };

/** Returns a decoder for one body. */
export function createDecoder(format: ShipperFormat): BodyDecoder {
  switch (format.kind) {
    case 'bulk':
      return createBulkDecoder(format.index);
    case 'hec-event':
      return createHecEventDecoder(format.defaults);
    case 'hec-raw':
      return createHecRawDecoder(format.defaults);
    case 'otlp':
      return createOtlpDecoder(format.encoding);
    case 'loki':
      return createLokiDecoder(format.encoding);
    case 'syslog':
      return createSyslogDecoder(format);
    case 'cloudtrail':
      return createCloudtrailDecoder(format.dataset);
    case 'vpc-flow':
      return createFlowLogDecoder(format.dataset);
  }
}
