import { randomUUID } from 'node:crypto';
import { STATUS_CODES, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { appError, type AppError } from '../../lib/errors.ts';
import { problemText, problemType, securityHeaders } from './problem.ts';
import type { App } from '../app-type.ts';

/** The longest request line and headers that Node accepts, in bytes. */
const headBytesMax = 16_384;

/** Responds to data that is no HTTP request, which no route and no hook sees. The format is the same as of all other errors. */
export function handleClientError(error: Error & { code?: string }, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return void socket.destroy();
  if (socket.writable) endWithProblem(socket, toConnectionError(error));
  else socket.destroy(error);
}

function toConnectionError(error: Error & { code?: string }): AppError {
  switch (error.code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return appError('request_timeout', 'The request did not arrive in time.');
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return appError('payload_too_large', 'The extensions of a chunk of the body are too large.');
    case 'HPE_HEADER_OVERFLOW':
      return isAddressTooLong(error)
        ? appError('uri_too_long', 'The address is longer than 16 KiB.')
        : appError('headers_too_large', 'The request headers are larger than 16 KiB.');
    default:
      return appError('malformed_request', 'The data is not a valid HTTP/1.1 request.');
  }
}

/** Returns whether the first line alone exceeds the limit. Node adds the data that it could not parse to the error. */
function isAddressTooLong(error: Error & { rawPacket?: unknown }): boolean {
  const { rawPacket } = error;
  if (!Buffer.isBuffer(rawPacket) || !/^[A-Z]+ \//.test(rawPacket.toString('latin1', 0, 20))) return false;
  const lineEnd = rawPacket.indexOf('\n');
  return lineEnd < 0 || lineEnd >= headBytesMax;
}

function endWithProblem(socket: Duplex, error: AppError): void {
  const body = problemText(error, '', randomUUID());
  const headers = {
    'content-type': problemType,
    'content-length': Buffer.byteLength(body),
    connection: 'close',
    ...securityHeaders,
    ...error.headers,
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${error.status} ${STATUS_CODES[error.status] ?? ''}\r\n${lines.join('')}\r\n${body}`);
}

/** Responds to requests that Node would otherwise answer without a body: an unknown Expect header, a missing Host header, and CONNECT. */
export function handleConnectionErrors(app: App): void {
  const server = app.server as Server;
  server.on('checkExpectation', ({ url }: IncomingMessage, response: ServerResponse) => {
    const error = appError('expectation_failed', 'The only supported Expect header is 100-continue.');
    const body = problemText(error, url?.split('?')[0] ?? '', randomUUID());
    response
      .writeHead(error.status, { 'content-type': problemType, connection: 'close', ...securityHeaders })
      .end(body);
  });
  server.on('connect', (_request: IncomingMessage, socket: Duplex) =>
    endWithProblem(
      socket,
      appError('method_not_allowed', 'CONNECT is not supported.', {
        headers: { allow: 'GET, HEAD, POST, PUT, DELETE, OPTIONS' },
      }),
    ),
  );
  app.addHook('onRequest', ({ raw }, _reply, done) => {
    const isHostMissing = raw.headers.host === undefined && raw.httpVersion === '1.1';
    done(isHostMissing ? appError('malformed_request', 'The Host header is missing.') : undefined);
  });
}
