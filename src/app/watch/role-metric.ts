import { Gauge, type Registry } from 'prom-client';
import { workerRoles, type WorkerRole } from '../worker/worker-roles.ts';

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
