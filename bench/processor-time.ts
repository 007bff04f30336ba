import { readFileSync } from 'node:fs';
import { descendantsOf } from '../test/support/program.ts';
import { withClient } from '../test/support/program-environment.ts';

const ticksPerSecond = 100;

/** Fields of /proc/PID/stat after the command: the process's own time in user and system mode, and that of its children that have ended. */
const ownFields = [11, 12];
const childrenFields = [13, 14];

function readFields(pid: number, fields: number[]): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const values = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (fields.reduce((sum, field) => sum + Number(values[field]), 0) * 1000) / ticksPerSecond;
  } catch {
    return undefined;
  }
}

/** Returns the milliseconds of processor time that a process has used, or undefined if it has ended or this is not Linux. */
export const readProcessorMs = (pid: number): number | undefined => readFields(pid, ownFields);

/** Returns the milliseconds of processor time of the child processes of this process that have ended. */
export const readEndedChildrenMs = (): number => readFields(process.pid, childrenFields) ?? 0;

/** Milliseconds of processor time of this process with its threads, of its query engines, and of the database server. */
export type ProcessorTime = { program: number; engines: number; database: number };

/** Returns the processor time since the start. Linux only. The database server runs on this machine. */
export async function readProcessorTime(databaseUrl: string): Promise<ProcessorTime> {
  const postmaster = await findPostmaster(databaseUrl);
  const engines = descendantsOf(process.pid).filter(({ command }) => command.includes('engine/process/child'));
  const sum = (pids: number[], fields = ownFields): number =>
    pids.reduce((total, pid) => total + (readFields(pid, fields) ?? 0), 0);
  return {
    program: sum([process.pid]),
    engines: sum(engines.map(({ pid }) => pid)) + sum([process.pid], childrenFields),
    database: sum([postmaster, ...descendantsOf(postmaster).map(({ pid }) => pid)]) + sum([postmaster], childrenFields),
  };
}

async function findPostmaster(databaseUrl: string): Promise<number> {
  return withClient(databaseUrl, async (client) => {
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
    const stat = readFileSync(`/proc/${rows[0]!.pid}/stat`, 'utf8');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
  });
}
