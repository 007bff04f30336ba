import { Counter, Gauge, type Registry } from 'prom-client';
import type { ReadReplica } from '../../platform/db/db.ts';

/** Registers metrics of the read replica: whether reads use it, and where transactions of reads ran. */
export function registerReplicaMetrics(registry: Registry, replica: ReadReplica): void {
  const registers = [registry];
  void new Gauge({
    name: 'tocsin_replica_up',
    help: 'Whether reads of this process may use the read replica: 1 or 0.',
    registers,
    collect() {
      this.set(replica.fault() === null ? 1 : 0);
    },
  });
  void new Counter({
    name: 'tocsin_replica_reads_total',
    help: 'Transactions of reading requests, by result: replica, or why they ran on the primary (behind, refused, failed, skipped).',
    labelNames: ['result'] as const,
    registers,
    collect() {
      this.reset();
      for (const [result, count] of Object.entries(replica.counts)) this.inc({ result }, count);
    },
  });
}
