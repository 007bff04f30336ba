import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import PostalMime, { type Email } from 'postal-mime';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { certificate, privateKey } from '../detection/siem/tls-certificate.ts';

export type ReceivedMail = {
  email: Email;
  recipients: string[];
  user: unknown;
  isEncrypted: boolean;
};

export const mailLogin = { user: 'tocsin', password: 'correct horse' };

const refuse = (responseCode: number, message: string): Error => Object.assign(new Error(message), { responseCode });

/**
 * Starts a mail server with STARTTLS and the certificate of the tests. It accepts `mailLogin` or no login. It refuses recipients whose address begins with `gone`
 * (550) or `full` (452).
 */
export async function startMailServer(options: SMTPServerOptions = {}) {
  const received: ReceivedMail[] = [];
  const server = new SMTPServer({
    cert: certificate,
    key: privateKey,
    authOptional: true,
    disableReverseLookup: true,
    closeTimeout: 1,
    onAuth: ({ username, password }, _session, done) =>
      username === mailLogin.user && password === mailLogin.password
        ? done(null, { user: username })
        : done(refuse(535, 'Authentication credentials invalid')),
    onRcptTo: ({ address }, _session, done) => {
      if (address.startsWith('gone')) done(refuse(550, 'No such mailbox'));
      else if (address.startsWith('full')) done(refuse(452, 'Mailbox full'));
      else done();
    },
    onData: async (stream, { envelope, user, secure }, done) => {
      const parsed = await PostalMime.parse(await text(stream));
      const recipients = envelope.rcptTo.map(({ address }) => address);
      received.push({ email: parsed, recipients, user, isEncrypted: secure });
      done();
    },
    ...options,
  });
  // A client that ends the connection is what some tests are about.
  server.on('error', () => undefined);
  await new Promise<void>((done) => void server.listen(0, '127.0.0.1', done));
  const { port } = server.server.address() as AddressInfo;
  return {
    url: `${options.secure ? 'smtps' : 'smtp'}://127.0.0.1:${port}`,
    /** Settings of a destination with the certificate of the server. */
    settings: { from: 'tocsin@company.example', to: ['soc@company.example'], caCertificate: certificate },
    received,
    close: () => new Promise<void>((done) => void server.close(() => done())),
  };
}
