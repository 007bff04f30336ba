import { EventSourceParserStream } from 'eventsource-parser/stream';
import { api, read } from './client.ts';
import { toProblem } from './problem.ts';
import type { paths } from './schema.d.ts';

type Operation = paths['/api/detections/{id}/backtest']['post'];
export type Backtest = Operation['responses'][200]['content']['application/json'];
type BacktestInput = Operation['requestBody']['content']['application/json'];
/** `windowsDone` of `windowsTotal`; then, while `phase` is `tuning`, the search for a quieter tuning. */
export type BacktestProgress = { phase: 'examining' | 'tuning'; windowsDone: number; windowsTotal: number };

/** Runs a backtest, which reports its progress, and stops it when the signal aborts. */
export async function backtest(
  id: string,
  body: BacktestInput,
  { signal, onProgress }: { signal: AbortSignal; onProgress: (progress: BacktestProgress) => void },
): Promise<Backtest> {
  const request = { params: { path: { id } }, body, signal, headers: { accept: 'text/event-stream' } };
  const stream = await read(api.POST('/api/detections/{id}/backtest', { ...request, parseAs: 'stream' }));
  const events = stream!.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream()).getReader();
  for (;;) {
    const { value, done } = await events.read();
    if (done) throw toProblem({ detail: 'The connection to the service broke off.' }, 0);
    const data: unknown = JSON.parse(value.data);
    if (value.event === 'result') return data as Backtest;
    if (value.event === 'problem') throw toProblem(data, (data as { status: number }).status);
    onProgress(data as BacktestProgress);
  }
}
