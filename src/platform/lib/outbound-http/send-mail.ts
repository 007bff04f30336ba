import { connect, isIP } from 'node:net';
import { ExternalError, isProgramFault } from '../external-error.ts';
import { createAllowList, withoutBrackets } from './addresses.ts';
import { isOwnShortage, pinnedLookup, resolvePublicHost, tlsOptions, type ResolvedAddress } from './send-request.ts';

export type MailServer = {
  /** `smtps://host:465`, encrypted from the start, or `smtp://host:587`. */
  address: string;
  /** Whether `smtp` demands STARTTLS before anything else is sent. Otherwise nothing is encrypted, which needs an allowed host. */
  isEncrypted: boolean;
  login?: { user: string; password: string } | undefined;
  /** A PEM certificate to trust in addition to the public ones. */
  ca?: string | undefined;
};

/** `messageId` and `thread` are message IDs with their angle brackets. Messages with the same `thread` are one conversation. */
export type MailMessage = {
  from: string;
  to: string[];
  subject: string;
  text: string;
  html: string;
  date: Date;
  messageId: string;
  thread: string;
};

/** Why a server refused a message. `isPermanent` if it would refuse it again. */
export type MailRefusal = { reason: string; isPermanent: boolean };

type Limits = {
  /** Private hosts, addresses and CIDRs that may be reached. */
  allow: readonly string[];
  signal: AbortSignal;
  /** The longest wait for an answer of the server. */
  timeoutMs: number;
};

const responseMaxBytes = 65_536;

/**
 * Sends a message through a mail server at an address that is resolved and checked first. Returns why the server refused it, or null. A message that some of the recipients
 * received counts as refused permanently, since they would receive it again. Throws an `ExternalError` if there is no response.
 */
export async function sendMail(
  { address, isEncrypted, login, ca }: MailServer,
  { thread, from, to, ...message }: MailMessage,
  { allow, signal, timeoutMs }: Limits,
): Promise<MailRefusal | null> {
  const url = new URL(address);
  const host = withoutBrackets(url.hostname);
  const secure = url.protocol === 'smtps:';
  const addresses = await resolvePublicHost(url, allow, signal);
  if (!secure && !isEncrypted) requireUnencrypted(host, addresses, { allow, login });
  // Most installations send no mail.
  const { createTransport } = await import('nodemailer');
  const transport = createTransport({
    host,
    port: Number(url.port),
    getSocket: (_options, done) => {
      const target = { host, port: Number(url.port), lookup: pinnedLookup(addresses) };
      const connection = connect({ ...target, signal, timeout: timeoutMs }, () => done(null, { connection }));
      connection.once('timeout', () => connection.destroy(new Error('it did not answer in time')));
      // Also while the library does not listen.
      connection.on('error', done);
    },
    secure,
    requireTLS: isEncrypted,
    ignoreTLS: !isEncrypted,
    ...(isIP(host) === 0 && { servername: host }),
    tls: tlsOptions(ca),
    // Without `forceAuth`, a server that offers no login would receive the message without one.
    ...(login && { auth: { user: login.user, pass: login.password }, forceAuth: true }),
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    maxResponseSize: responseMaxBytes,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  try {
    const { rejected, rejectedErrors = [] } = await transport.sendMail({
      ...message,
      from: { name: 'Tocsin', address: from },
      to: to.map((recipient) => ({ name: '', address: recipient })),
      inReplyTo: thread,
      references: thread,
      headers: { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All' },
      signal,
    });
    if (rejected.length === 0) return null;
    const reasons = rejectedErrors.map((error) => `${error.recipient}: ${error.response}`).join(', ');
    return {
      reason: `sent to ${to.length - rejected.length} of ${to.length} recipients, not to ${reasons}`,
      isPermanent: true,
    };
  } catch (error) {
    if (!(error instanceof Error) || isProgramFault(error) || isOwnShortage(error)) throw error;
    const { code = '', response, permanent = false } = error as MailError;
    // A refused login says nothing about the message.
    if (response !== undefined)
      return { reason: error.message, isPermanent: permanent && ['EENVELOPE', 'EMESSAGE'].includes(code) };
    const reason = signal.aborted ? 'it did not accept the message in time' : error.message;
    throw new ExternalError(`${url.host} cannot be reached: ${reason}`, { cause: error });
  }
}

/** What the library adds to an error. `response` is the answer of the server to the command that failed. */
type MailError = Error & { code?: string; response?: string; permanent?: boolean };

function requireUnencrypted(
  host: string,
  addresses: ResolvedAddress[],
  { allow, login }: Pick<Limits, 'allow'> & Pick<MailServer, 'login'>,
): void {
  const isAllowed = createAllowList(allow);
  if (!addresses.every(({ address }) => isAllowed(host, address)))
    throw new ExternalError(`${host} is not in TOCSIN_FETCH_ALLOW, which sending without encryption needs`);
  if (login) throw new ExternalError('a password is not sent without encryption');
}
