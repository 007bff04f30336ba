import { pauseConnection } from '../../../connections/connection-pauses.ts';
import { SiemError, type SiemFailure } from '../../../siem/connector.ts';
import type { ActiveRun } from '../active-run.ts';

const pingMs = 10_000;

/**
 * Pauses the connection of a run if the connection itself has failed, and returns whether it did. Failures that only the owner
 * can fix, such as credentials or rights, pause it immediately. Transient failures pause it only if the SIEM does not answer a
 * ping either, so that one slow query does not stop other detections.
 */
export async function pauseFailedConnection(
  deps: Parameters<typeof pauseConnection>[0],
  { orgId, connection, definition }: ActiveRun,
  failure: SiemFailure,
  { error, signal }: { error: unknown; signal: AbortSignal },
): Promise<boolean> {
  if (connection.id === undefined || !(error instanceof SiemError) || failure.blame !== 'upstream') return false;
  const cause = failure.retryable ? await findPingFailure(connection, signal) : failure;
  if (!cause) return false;
  await pauseConnection(deps, { orgId, connectionId: connection.id }, cause, definition.detectionQuery);
  return true;
}

async function findPingFailure(
  { ping }: ActiveRun['connection'],
  signal: AbortSignal,
): Promise<SiemFailure | undefined> {
  const timeout = AbortSignal.timeout(pingMs);
  try {
    await ping(AbortSignal.any([signal, timeout]));
    return undefined;
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof SiemError) return error.failure.blame === 'upstream' ? error.failure : undefined;
    // A fault of the service says nothing about the connection.
    if (!timeout.aborted) return undefined;
    const message = `The SIEM did not answer within ${pingMs / 1000} s.`;
    return { kind: 'timeout', blame: 'upstream', retryable: true, message };
  }
}
