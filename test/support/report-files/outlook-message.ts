import { burn } from '@kenjiuno/msgreader/lib/Burner.js';
import { TypeEnum } from '@kenjiuno/msgreader/lib/Reader.js';

/** Builds a message as Outlook saves it: one stream per text property in a compound file (MS-OXMSG, section 2.1.3). */
export function buildOutlookMessage({ subject, body }: { subject: string; body: string }): Uint8Array {
  const streams: [name: string, bytes: Buffer][] = [
    ['__properties_version1.0', Buffer.alloc(32)],
    ['__substg1.0_0037001F', Buffer.from(subject, 'utf16le')],
    ['__substg1.0_1000001F', Buffer.from(body, 'utf16le')],
  ];
  return burn([
    { name: 'Root Entry', type: TypeEnum.ROOT, length: 0, children: streams.map((_, index) => index + 1) },
    ...streams.map(([name, bytes]) => ({
      name,
      type: TypeEnum.DOCUMENT,
      length: bytes.length,
      binaryProvider: () => Uint8Array.from(bytes),
    })),
  ]);
}
