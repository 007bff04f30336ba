import { ModelError } from '../../../platform/models/model-error.ts';
import { SiemError, type SiemFailure } from '../../siem/connector.ts';
import { pauseConnection } from '../../connections/connection-pauses.ts';
import type { ActiveRun } from './active-run.ts';

export type RunFailure = SiemFailure;

/** Delays between attempts of a run, in milliseconds. Their sum is well below one hour, the shortest interval of slots. */
const retryDelaysMs = [5_000, 15_000, 45_000, 135_000, 300_000];
const messageLengthMax = 2000;

/** Returns the failure of a connection or a model as it is, and any other error as an internal error of the service. */
export function toRunFailure(error: unknown): RunFailure {
  if (error instanceof SiemError || error instanceof ModelError) {
    const { kind, blame, retryable, message } = error.failure;
    const failure = { kind, blame, retryable, message: message.slice(0, messageLengthMax) };
    return error instanceof SiemError && error.failure.dependsOnData ? { ...failure, dependsOnData: true } : failure;
  }
  return {
    kind: 'internal_error',
    blame: 'service',
    retryable: true,
    message: 'The run failed with an unexpected error. See the service log for its run ID.',
  };
}

export const workerLostFailure: RunFailure = {
  kind: 'worker_lost',
  blame: 'service',
  retryable: false,
  message: 'The run was lost three times: its worker ended or could not renew its lease.',
};

/** Returns the delay before the next attempt, or undefined if there is none. */
export function retryDelayMs(failure: RunFailure, retries: number): number | undefined {
  return failure.retryable ? retryDelaysMs[retries] : undefined;
}

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
