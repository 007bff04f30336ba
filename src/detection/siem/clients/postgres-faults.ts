import { SiemError } from '../connector.ts';
import { authorFault, nameIn, UnknownColumn, upstreamFault } from '../siem-failures.ts';

/** What a failure of PostgreSQL means, by its SQLSTATE (appendix A of its manual). */
export function faultOfPostgres(error: unknown, host: string): SiemError {
  if (error instanceof SiemError) return error;
  const { code = '', message } = error as Error & { code?: string };
  if (!/^[0-9A-Z]{5}$/.test(code)) return upstreamFault('unreachable', `${host}: ${message}`, true);
  if (code === '42703') return unknownColumn(message);
  if (code === '42501') return upstreamFault('rights_missing', `${host}: ${message}`);
  if (code === '57014') return authorFault('query_timeout', 'The query did not end within its time limit.');
  if (code.startsWith('25')) return authorFault('query_not_allowed', `A query only reads: ${message}.`);
  if (code === '3D000') return upstreamFault('not_found', `${host}: ${message}`);
  if (code.startsWith('28')) return upstreamFault('credentials_refused', `${host}: ${message}`);
  if (code.startsWith('53')) return upstreamFault('throttled', `${host}: ${message}`, true);
  if (/^(?:42|22|21|0A|54|3F|26|34|2F|P0)/.test(code)) return authorFault('query_error', message);
  return upstreamFault('unavailable', `${host}: ${message}`, true);
}

function unknownColumn(message: string): SiemError {
  const name = nameIn(message, /column "?([^"\s]+)"? does not exist/);
  return name === undefined ? authorFault('unknown_column', message) : new UnknownColumn(name.split('.').at(-1)!);
}
