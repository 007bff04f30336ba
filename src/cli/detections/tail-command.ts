import { withoutTrailingSlashes } from '../../platform/lib/outbound-http/addresses.ts';
import { setTimeout } from 'node:timers/promises';
import { isSeverityAtLeast, severities, type Severity } from '../../detection/analysis/candidate.ts';
import { createServiceCall, describeProblem } from '../../detection/as-code/service-client.ts';
import type { Hit } from '../../detection/hits/hits.schema.ts';
import type { EventList } from '../../platform/notifications/stream/events.schema.ts';
import { outboundFetch } from '../../platform/lib/outbound-http/proxy.ts';
import { UsageError } from '../support/failures.ts';
import { printError, printLines, printText } from '../support/output.ts';
import { readServiceAccess } from '../support/service-access.ts';

type TailOptions = { detection?: string[] | undefined; severity?: string | undefined; json?: boolean | undefined };

const [firstPauseMs, pauseMsMax] = [1_000, 30_000];
/** A stream sends a comment every 15 seconds. One that is silent for longer is broken. */
const silentMsMax = 45_000;
const messageCharsMax = 16 * 1024 * 1024;

/**
 * Prints hits as they are raised, until Ctrl-C. A connection that ends is opened again, and what happened meanwhile is printed. Exit code 1 if the
 * service refuses.
 */
export async function tailCommand({ detection = [], severity, json }: TailOptions): Promise<number> {
  if (severity !== undefined && !(severities as readonly string[]).includes(severity))
    throw new UsageError(`--severity must be one of ${severities.join(', ')}, not "${severity}".`);
  const access = readServiceAccess();
  const isWanted = (hit: Hit): boolean =>
    (detection.length === 0 || detection.some((one) => one === hit.detection.name || one === hit.detectionId)) &&
    (severity === undefined || isSeverityAtLeast(hit.severity, severity as Severity));
  const stop = new AbortController();
  const end = (): void => stop.abort();
  process.once('SIGINT', end);
  try {
    let lastId = await readLatestId(access);
    for (let pauseMs = firstPauseMs; !stop.signal.aborted;) {
      try {
        for await (const { id, data } of readEvents(access, lastId, stop.signal)) {
          pauseMs = firstPauseMs;
          lastId = id;
          const hit = (JSON.parse(data) as { data: Hit }).data;
          if (!isWanted(hit)) continue;
          if (json) printText(JSON.stringify(hit));
          else printLines(renderHit(hit, access.url));
        }
      } catch (error) {
        if (error instanceof RefusedError) throw error;
        if (!stop.signal.aborted) printError(`${(error as Error).message}. Trying again in ${pauseMs / 1_000} s.`);
      }
      await setTimeout(pauseMs, undefined, { signal: stop.signal }).catch(() => undefined);
      pauseMs = Math.min(2 * pauseMs, pauseMsMax);
    }
    return 0;
  } finally {
    process.off('SIGINT', end);
  }
}

/** Returns the ID of the latest event of a hit, so that a connection that breaks off before the next one loses nothing. */
async function readLatestId(access: { url: string; key: string }): Promise<string | undefined> {
  const { body } = await createServiceCall(access)<EventList>('GET', `${eventsPath}&limit=1`);
  return body.events[0]?.id;
}

const eventsPath = '/api/events?types=hit.created';

/** The service refuses the stream, so that trying again does not help. */
class RefusedError extends Error {}

/** Reads events of new hits after one, until the connection ends. */
async function* readEvents(
  { url, key }: { url: string; key: string },
  lastId: string | undefined,
  signal: AbortSignal,
): AsyncGenerator<{ id: string; data: string }> {
  const silence = new AbortController();
  const watch = (): NodeJS.Timeout => globalThis.setTimeout(() => silence.abort(), silentMsMax);
  let timer = watch();
  try {
    const response = await outboundFetch(`${withoutTrailingSlashes(url)}${eventsPath}`, {
      redirect: 'error',
      signal: AbortSignal.any([signal, silence.signal]),
      headers: {
        accept: 'text/event-stream',
        authorization: `Bearer ${key}`,
        ...(lastId === undefined ? {} : { 'last-event-id': lastId }),
      },
    });
    if (response.status !== 200) await refuse(response, url);
    let unread = '';
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
      clearTimeout(timer);
      timer = watch();
      const messages = (unread + chunk).split('\n\n');
      unread = messages.pop()!;
      if (unread.length > messageCharsMax) throw new Error(`${url} sent an event of more than 16 MiB`);
      for (const message of messages) {
        const [, id, data] = /^id: (\S+)\nevent: \S+\ndata: (.*)$/s.exec(message) ?? [];
        if (id !== undefined && data !== undefined) yield { id, data };
      }
    }
    throw new Error(`${url} closed the connection`);
  } catch (error) {
    if (silence.signal.aborted) throw new Error(`${url} sends nothing`, { cause: error });
    const { cause } = error as Error;
    throw cause instanceof Error ? new Error(`${url} does not respond: ${cause.message}`, { cause }) : error;
  } finally {
    clearTimeout(timer);
  }
}

/** Throws the reason of a response. One of 429, or of the server, may be another one later. */
async function refuse(response: Response, url: string): Promise<never> {
  const body = (await response.json().catch(() => ({}))) as Parameters<typeof describeProblem>[0];
  const reason = describeProblem(body) ?? `status ${response.status}`;
  if (response.status === 429 || response.status >= 500) throw new Error(`${url}: ${reason}`);
  throw new RefusedError(response.status === 401 ? `${url} rejects the API key in TOCSIN_API_KEY` : reason);
}

function renderHit(hit: Hit, serviceUrl: string): string {
  const { createdAt, severity, detection, entity, headline, latencyMs, url, id } = hit;
  const latency = latencyMs === null ? '' : `  ${(latencyMs / 1000).toFixed(1)} s after arrival`;
  return `${createdAt}  ${severity}  ${detection.name}  ${entity}  ${headline}${latency}  ${url === null ? id : new URL(url, serviceUrl).href}`;
}
