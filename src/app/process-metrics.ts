import { join } from 'node:path';
import { Gauge, type Registry, Counter } from 'prom-client';
import type { Config } from '../config.ts';
import { createDiskGuard, type DiskGuard } from '../platform/lib/storage/disk-guard.ts';
import type { ReadReplica } from '../platform/db/db.ts';
import { workerRoles, type WorkerRole } from './worker-roles.ts';

/** Watches the disk of the data directory, and those of its folders that are mounted from others. */
export function createDataDiskGuard({ dataDir, diskReserveBytes }: Pick<Config, 'dataDir' | 'diskReserveBytes'>) {
  const folders = [dataDir, ...['pg', 'logs', 'log-cache'].map((name) => join(dataDir, name))];
  return createDiskGuard({ folders, reserveBytes: diskReserveBytes });
}

/** Registers the free space that the guard sees. */
export function registerDiskMetrics(registry: Registry, guard: DiskGuard): void {
  void new Gauge({
    name: 'tocsin_disk_free_bytes',
    help: 'Free space of the data directory. At the reserve, ingestion stops.',
    registers: [registry],
    async collect() {
      this.set(await guard.freeBytes());
    },
  });
  void new Gauge({
    name: 'tocsin_ingestion_stopped',
    help: 'Whether logs and feeds are refused because the disk is full up to its reserve: 1 or 0.',
    registers: [registry],
    async collect() {
      this.set((await guard.hasSpace()) ? 0 : 1);
    },
  });
}

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

/** Registers a gauge of the worker roles that this process has. The work of a role is not done if no process has the role. */
export function registerRoleMetric(registry: Registry, roles: readonly WorkerRole[]): void {
  const gauge = new Gauge({
    name: 'tocsin_worker_role',
    help: 'Whether this process has the worker role: 1 or 0.',
    labelNames: ['role'] as const,
    registers: [registry],
  });
  for (const role of workerRoles) gauge.set({ role }, roles.includes(role) ? 1 : 0);
}
