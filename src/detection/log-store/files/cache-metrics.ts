import { Counter, Gauge, type Registry } from 'prom-client';

/** Counts what the local copies of object storage save. */
export type CacheMetrics = {
  recordRead: (outcome: 'hit' | 'miss', bytes: number) => void;
  setSize: (bytes: number) => void;
};

/** Registers the figures of the local copies. Call it once per registry. */
export function createCacheMetrics(registry: Registry): CacheMetrics {
  const registers = [registry];
  const labelNames = ['outcome'] as const;
  const reads = new Counter({
    name: 'tocsin_log_cache_reads_total',
    help: 'Log files in object storage that queries read, by whether a local copy existed (hit) or not (miss).',
    labelNames,
    registers,
  });
  const bytes = new Counter({
    name: 'tocsin_log_cache_read_bytes_total',
    help: 'Bytes of the log files in object storage that queries read, by whether a local copy existed (hit) or not (miss).',
    labelNames,
    registers,
  });
  const size = new Gauge({
    name: 'tocsin_log_cache_bytes',
    help: 'Bytes of the local copies of log files in object storage.',
    registers,
  });
  return {
    recordRead: (outcome, count) => {
      reads.inc({ outcome });
      bytes.inc({ outcome }, count);
    },
    setSize: (count) => size.set(count),
  };
}
