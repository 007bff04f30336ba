import { PassThrough } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { problemText } from './problem.ts';
import { toAppError } from './request-errors.ts';

const heartbeatMs = 15_000;

/** Returns whether the client requests server-sent events. */
export const acceptsEventStream = ({ headers }: FastifyRequest): boolean =>
  headers.accept?.includes('text/event-stream') === true;

/**
 * Runs long work and sends its progress as server-sent events: `progress` for each report, then `result` with what the work returned, or
 * `problem` with a problem document. An error before the first report is thrown, so that its response has the status of the error.
 */
export async function streamProgress<Progress, Result>(
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
  work: (report: (progress: Progress) => void) => Promise<Result>,
): Promise<void> {
  const events = new PassThrough();
  const send = (text: string): void => {
    if (!events.destroyed) events.write(text);
  };
  const sendEvent = (type: string, data: string): void => send(`event: ${type}\ndata: ${data}\n\n`);
  const { promise: reported, resolve: setReported } = Promise.withResolvers<void>();
  const working = work((progress) => {
    sendEvent('progress', JSON.stringify(progress));
    setReported();
  });
  await Promise.race([reported, working]);
  const heartbeat = setInterval(() => send(': heartbeat\n\n'), heartbeatMs).unref();
  void working
    .then(
      (result) => sendEvent('result', JSON.stringify(result)),
      (error) => sendEvent('problem', describeFailure(request, error)),
    )
    .finally(() => {
      clearInterval(heartbeat);
      events.end();
    });
  // Waits for the end of the response.
  await reply
    .type('text/event-stream; charset=utf-8')
    .headers({ 'cache-control': 'no-store', 'x-accel-buffering': 'no' })
    .send(events);
}

/** Logs a failure as an error response does, and returns its problem document. */
function describeFailure(request: FastifyRequest, error: Parameters<typeof toAppError>[0]): string {
  const known = toAppError(error);
  if (known.status >= 500) request.log.error({ err: error, code: known.code }, 'streamed request failed');
  return problemText(known, request.url.split('?')[0]!, request.id);
}
