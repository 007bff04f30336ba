/** The roles of workers. `worker-loops.ts` has the work of each. */
export const workerRoles = ['runs', 'match', 'judge', 'ingest', 'deliver'] as const;
export type WorkerRole = (typeof workerRoles)[number];
