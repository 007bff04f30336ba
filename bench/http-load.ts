import autocannon from 'autocannon';
import { readProcessorMs } from './processor-time.ts';

export type LoadResult = { perSecond: number; cpuMs: number | undefined };

type Request = {
  connections?: number;
  url: string;
  method?: 'GET' | 'POST';
  headers?: Record<string, string>;
  body?: string;
};

/**
 * Sends requests over ten connections, unless the request says otherwise, for the given time. Returns the responses per second and the server's processor time per response (Linux
 * only). Throws if a response has a status other than 2xx.
 */
export async function measureLoad(request: Request, pid: number, seconds: number): Promise<LoadResult> {
  const before = readProcessorMs(pid);
  const result = await autocannon({ connections: 10, ...request, duration: seconds });
  const after = readProcessorMs(pid);
  if (result.non2xx + result.errors + result.timeouts > 0 || result['2xx'] === 0)
    throw new Error(
      `${request.url}: ${result.non2xx} failed responses, ${result.errors} errors, ${result['2xx']} successful responses`,
    );
  const cpuMs = before === undefined || after === undefined ? undefined : (after - before) / result['2xx'];
  return { perSecond: result['2xx'] / result.duration, cpuMs };
}
