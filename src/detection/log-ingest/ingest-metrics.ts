import { Counter, type Registry } from 'prom-client';
import type { LogReceipt } from './events/log-receipt.schema.ts';

/** Counts the events of a receipt. */
export type RecordReceipt = (receipt: Pick<LogReceipt, 'accepted' | 'rejectedTotal' | 'duplicateOf'>) => void;

/** Registers the counters of log ingestion. Call it once per registry. */
export function createIngestMetrics(registry: Registry): RecordReceipt {
  const registers = [registry];
  const events = new Counter({
    name: 'tocsin_log_ingest_events_total',
    help: 'Log events received, by outcome.',
    labelNames: ['outcome'] as const,
    registers,
  });
  const batches = new Counter({
    name: 'tocsin_log_ingest_batches_total',
    help: 'Bodies of log events received, by outcome. A repeated body adds no events.',
    labelNames: ['outcome'] as const,
    registers,
  });
  return ({ accepted, rejectedTotal, duplicateOf }) => {
    batches.inc({ outcome: duplicateOf === null ? 'stored' : 'repeated' });
    events.inc({ outcome: 'accepted' }, accepted);
    events.inc({ outcome: 'rejected' }, rejectedTotal);
  };
}
