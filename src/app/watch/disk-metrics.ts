import { join } from 'node:path';
import { Gauge, type Registry } from 'prom-client';
import type { Config } from '../../config.ts';
import { createDiskGuard, type DiskGuard } from '../../platform/lib/storage/disk-guard.ts';

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
