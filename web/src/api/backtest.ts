import { api, read } from './client.ts';
import { readProgress } from './progress-stream.ts';
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
  return readProgress<BacktestProgress, Backtest>(stream!, onProgress);
}
