import type { SiemFailure } from '../../siem/connector.ts';
import type { Inspection } from './inspect-tree.ts';

/** One organization's instance: the only folder it may reach. Sizes in MiB. */
export type OpenOptions = { directory: string; memoryMb: number; residentMb: number };

/** `tables` are the definitions of the dataset names (SQL of our own making); `bounds` the window as ISO text. */
export type QueryJob = {
  sql: string;
  tables: { name: string; sql: string }[];
  bounds: { from: string; to: string };
  aggregate: boolean;
  mode: 'rows' | 'check';
  rowsMax: number;
  bytesMax: number;
};

/** SQL of our own making over the organization's folder: compaction. */
export type MaintenanceJob = { statements: string[] };

export type ToChild =
  | { kind: 'open'; options: OpenOptions }
  | { kind: 'inspect'; id: number; sql: string }
  | { kind: 'query'; id: number; job: QueryJob }
  | { kind: 'maintain'; id: number; job: MaintenanceJob }
  | { kind: 'cancel'; id: number };

export type QueryEnd = { total: number; truncated: boolean };

export type FromChild =
  | { kind: 'ready' }
  | { kind: 'over' }
  | { kind: 'inspected'; id: number; inspection: Inspection }
  | { kind: 'rows'; id: number; rows: Record<string, unknown>[] }
  | { kind: 'done'; id: number; end: QueryEnd }
  | { kind: 'failed'; id: number; failure: SiemFailure; poisoned: boolean };
