import { EventSourceParserStream } from 'eventsource-parser/stream';
import { toProblem } from './problem.ts';

/** Returns the result of long work whose response is a stream of `progress`, then `result` or `problem`. Throws the problem. */
export async function readProgress<Progress, Result>(
  stream: ReadableStream<Uint8Array>,
  onProgress: (progress: Progress) => void,
): Promise<Result> {
  const events = stream
    .pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>)
    .pipeThrough(new EventSourceParserStream())
    .getReader();
  for (;;) {
    const { value, done } = await events.read();
    if (done) throw toProblem({ detail: 'The connection to the service broke off.' }, 0);
    const data: unknown = JSON.parse(value.data);
    if (value.event === 'result') return data as Result;
    if (value.event === 'problem') throw toProblem(data, (data as { status: number }).status);
    onProgress(data as Progress);
  }
}
