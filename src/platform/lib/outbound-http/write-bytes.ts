import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { ExternalError } from '../external-error.ts';
import { withoutBrackets } from './addresses.ts';
import { pinnedLookup, resolvePublicHost, tlsOptions } from './send-request.ts';

type WriteOptions = {
  /** Private hosts, addresses and CIDRs that may be reached. */
  allow: readonly string[];
  /** A PEM certificate to trust in addition to the public ones. */
  ca?: string | undefined;
  signal: AbortSignal;
};

const closeMs = 5000;

/**
 * Writes bytes to an address such as `tls://host:6514` or `tcp://host:601` and ends the connection. Returns when the other side has ended it as well, or
 * five seconds after everything was sent. The host is resolved and checked first. Throws an `ExternalError` if the connection fails.
 */
export async function writeBytes(address: string, bytes: Buffer, { allow, ca, signal }: WriteOptions): Promise<void> {
  const url = new URL(address);
  const host = withoutBrackets(url.hostname);
  const options = { host, port: Number(url.port), lookup: pinnedLookup(await resolvePublicHost(url, allow, signal)) };
  const unreachable = (error: Error) =>
    new ExternalError(`${url.host} cannot be reached: ${error.message}`, { cause: error });
  await new Promise<void>((resolve, reject) => {
    const name = isIP(host) === 0 ? { servername: host } : {};
    const send = (): void => {
      socket.resume();
      socket.end(bytes, () => socket.setTimeout(closeMs, () => socket.destroy()));
    };
    const socket: Socket =
      url.protocol === 'tls:' ? connectTls({ ...options, ...name, ...tlsOptions(ca) }, send) : connect(options, send);
    const abort = (): void => void socket.destroy(new Error('it did not accept the message in time'));
    signal.addEventListener('abort', abort, { once: true });
    socket.once('error', (error) => reject(unreachable(error)));
    socket.once('close', () => {
      signal.removeEventListener('abort', abort);
      resolve();
    });
  });
}
