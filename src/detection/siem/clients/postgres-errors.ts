import { isProgramFault } from '../../../platform/lib/external-error.ts';
import { SiemError } from '../connector.ts';
import {
  authorError,
  dataDependentError,
  dataError,
  matchName,
  UnknownColumnError,
  upstreamError,
} from '../siem-errors.ts';

/** Converts a PostgreSQL error by its SQLSTATE (appendix A of the manual). Returns a mistake of this program unchanged. */
export function toPostgresError(error: unknown, host: string): Error {
  if (error instanceof SiemError || isProgramFault(error)) return error as Error;
  const { code = '', message } = error as Error & { code?: string };
  if (!/^[0-9A-Z]{5}$/.test(code)) return upstreamError('unreachable', `${host}: ${message}`, true);
  if (code === '42703') return toColumnError(message);
  if (code === '42501') return upstreamError('rights_missing', `${host}: ${message}`);
  if (code === '57014') return dataDependentError('query_timeout', 'The query exceeded its time limit.');
  // Data exceptions such as a text that is no number, and a subquery with several rows.
  if (/^(?:22|21)/.test(code)) return dataError(message);
  if (code.startsWith('25')) return authorError('query_not_allowed', `The query must only read: ${message}.`);
  if (code === '3D000') return upstreamError('not_found', `${host}: ${message}`);
  if (code.startsWith('28')) return upstreamError('credentials_refused', `${host}: ${message}`);
  if (code.startsWith('53')) return upstreamError('throttled', `${host}: ${message}`, true);
  // Syntax, grouping, windowing and recursion errors, and unsupported features.
  if (/^(?:42601|42803|42P19|42P20|0A)/.test(code)) return authorError('query_error', message);
  // Tables, columns, types and limits, which pipelines change.
  if (/^(?:42|54|3F|26|34|2F|P0)/.test(code)) return dataDependentError('query_error', message);
  return upstreamError('unavailable', `${host}: ${message}`, true);
}

function toColumnError(message: string): SiemError {
  const name = matchName(message, /column "?([^"\s]+)"? does not exist/);
  return name === undefined
    ? dataDependentError('unknown_column', message)
    : new UnknownColumnError(name.split('.').at(-1)!);
}
