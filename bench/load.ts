import { readFileSync } from 'node:fs';
import autocannon from 'autocannon';

export type Load = { perSecond: number; cpuMs: number | undefined };

type Request = { url: string; method?: 'GET' | 'POST'; headers?: Record<string, string>; body?: string };

/**
 * Requests over ten connections for some seconds: answers per second, and the processor time of the server's process per answer (Linux only).
 * Any answer but 200 is an error.
 */
export async function load(request: Request, pid: number, seconds: number): Promise<Load> {
  const before = cpuMsOf(pid);
  const result = await autocannon({ ...request, connections: 10, duration: seconds });
  const after = cpuMsOf(pid);
  if (result.non2xx + result.errors + result.timeouts > 0 || result['2xx'] === 0)
    throw new Error(`${request.url}: ${result.non2xx} refused, ${result.errors} errors, ${result['2xx']} answered`);
  const cpuMs = before === undefined || after === undefined ? undefined : (after - before) / result['2xx'];
  return { perSecond: result['2xx'] / result.duration, cpuMs };
}

const ticksPerSecond = 100;

function cpuMsOf(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return ((Number(fields[11]) + Number(fields[12])) * 1000) / ticksPerSecond;
  } catch {
    return undefined;
  }
}
