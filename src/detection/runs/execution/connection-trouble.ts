import { pauseConnection } from '../../connections/connection-pauses.ts';
import { SiemError, type SiemFailure } from '../../siem/connector.ts';
import type { Run, RunDeps } from '../run-types.ts';

const pingMs = 10_000;

/**
 * Whether what a run met is the trouble of its connection, which is then paused: credentials or rights that only its owner can mend at once,
 * what may pass by itself where the SIEM does not answer a plain word either. One query that is too slow stops nobody else.
 */
export async function pausesConnection(
  deps: RunDeps,
  { orgId, connection, definition }: Run,
  failure: SiemFailure,
  { error, signal }: { error: unknown; signal: AbortSignal },
): Promise<boolean> {
  if (connection.id === undefined || !(error instanceof SiemError) || failure.blame !== 'upstream') return false;
  const met = failure.retryable ? await troubleOf(connection, signal) : failure;
  if (!met) return false;
  await pauseConnection(deps, { orgId, connectionId: connection.id }, met, definition.detectionQuery);
  return true;
}

async function troubleOf({ ping }: Run['connection'], signal: AbortSignal): Promise<SiemFailure | undefined> {
  try {
    await ping(AbortSignal.any([signal, AbortSignal.timeout(pingMs)]));
    return undefined;
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof SiemError) return error.failure.blame === 'upstream' ? error.failure : undefined;
    return { kind: 'timeout', blame: 'upstream', retryable: true, message: `No answer within ${pingMs / 1000} s.` };
  }
}
