import { createRequire } from 'node:module';
import type { default as MsgReaderModule } from '@kenjiuno/msgreader';
import PostalMime from 'postal-mime';
import { ExternalError } from '../../../platform/lib/external-error.ts';
import { decodeDocument } from '../decode-document.ts';
import { readArticle } from '../rss/read-entry-text.ts';
import { readPdf, type ReportFile } from './pdf-text.ts';
import type { UnreadText } from '../../model/source-record.ts';
import { htmlToText } from '../rss/html-text.ts';

const messagesMax = 5;
const headChars = 4_000;
const nameMaxChars = 200;
const unreadMax = 20;

const isPdf = (bytes: Uint8Array): boolean => Buffer.from(bytes.subarray(0, 1_024)).includes('%PDF-');
/** Compound files of Microsoft (MS-CFB, section 2.2). */
const isCompound = (bytes: Uint8Array): boolean =>
  Buffer.from(bytes.subarray(0, 8)).equals(Buffer.from('d0cf11e0a1b11ae1', 'hex'));
/** Header lines of a message, among them one that every message has. */
const messageHead =
  /^(?:[\w-]+:[^\n]*\r?\n(?:[ \t][^\n]*\r?\n)*)*(?:from|date|received|mime-version|return-path):[^\n]*\r?\n/i;

/**
 * Reads the report in a PDF, an e-mail (`.eml` or `.msg`, with the reports attached to it), an HTML page or a text. The kind is recognized by the
 * content; the name helps only where a text does not tell. Throws an Error that says what is wrong with the file.
 */
export async function readReportFile(file: Attachment): Promise<ReportFile> {
  const { text, ...rest } = await readFile(file, { messages: 0 });
  return { ...rest, text: text.replaceAll('\r\n', '\n') };
}

async function readFile({ name, bytes }: Attachment, read: { messages: number }): Promise<ReportFile> {
  if (isPdf(bytes)) return readPdf(bytes);
  if (isCompound(bytes)) return readEmail(readMsg(bytes), read);
  const text = decodeDocument(Buffer.from(bytes), undefined);
  const head = text.slice(0, headChars);
  if (/\.eml$/i.test(name) || messageHead.test(head)) return readEmail(await readEml(bytes), read);
  if (isBinary(head)) throw new ExternalError('only PDF, e-mail, HTML and text are read');
  if (!/\.(?:txt|md)$/i.test(name) && /^\s*(?:<!--[^]*?-->\s*)?<(?:!doctype html|html|head|body)\b/i.test(head)) {
    const { text: prose, title, publishTime } = readArticle({ bytes, contentType: 'text/html', url: '' });
    return { text: prose, ...(title ? { title: title.slice(0, 300) } : {}), ...(publishTime ? { publishTime } : {}) };
  }
  return { text };
}

/** Returns whether a text has control characters as no text has them. Single ones are replaced. */
const isBinary = (head: string): boolean =>
  (head.match(/[\0-\u0008\u000E-\u001A\uFFFD]/g)?.length ?? 0) > head.length / 50;

const imageName = /\.(?:png|jpe?g|gif|bmp|webp|svg|ico|tiff?|heic)$/i;

/** Appends the attachments that are reports to the text of a message. Images are left out, and others that cannot be read are listed. */
async function readEmail({ text, attachments, ...rest }: Email, read: { messages: number }): Promise<ReportFile> {
  read.messages += 1;
  if (read.messages > messagesMax) throw new ExternalError(`more than ${messagesMax} messages inside of each other`);
  const parts = [text.trim()];
  const unread: string[] = [];
  for (const attachment of attachments) {
    const found = await readFile(attachment, read).catch((error: unknown) => {
      const name = attachment.name.trim().slice(0, nameMaxChars) || 'an attachment without a name';
      if (!imageName.test(name))
        unread.push(`${name}: ${error instanceof ExternalError ? error.message : 'it cannot be read'}`);
      return undefined;
    });
    unread.push(...(found?.unread ?? []));
    if (found)
      parts.push(
        found.text.startsWith(found.title ?? '') ? found.text.trim() : `${found.title}\n\n${found.text.trim()}`,
      );
  }
  const whole = parts.filter((part) => part !== '').join('\n\n');
  if (whole === '') throw new ExternalError('the e-mail has no text');
  return { ...rest, text: whole, ...(unread.length > 0 ? { unread: unread.slice(0, unreadMax) } : {}) };
}

/** Returns an entry whose page, if it is a PDF, is the text of the PDF. A PDF that cannot be read stays what it is, which is no page. */
export async function withReadablePage(entry: UnreadText): Promise<UnreadText> {
  const { page } = entry;
  if (!page || !isPdf(page.bytes)) return entry;
  const read = await readPdf(page.bytes).catch(() => undefined);
  if (!read) return entry;
  const text = { bytes: Buffer.from(read.text), contentType: 'text/plain; charset=utf-8', url: page.url };
  return { ...entry, page: text, ...(entry.title ? {} : { title: read.title }) };
}

/** An attached file. */
type Attachment = { name: string; bytes: Uint8Array };
/** A message whose attachments have not been read. */
type Email = ReportFile & { attachments: Attachment[] };

// A CommonJS module whose default export loaders understand differently.
const { default: MsgReader } = createRequire(import.meta.url)('@kenjiuno/msgreader') as typeof MsgReaderModule;

const attachmentsMax = 20;
const nestingMax = 10;

/** Reads a message as RFC 5322 and MIME have it. Its headers besides subject and date are not part of the report. */
async function readEml(bytes: Uint8Array): Promise<Email> {
  const email = await PostalMime.parse(bytes, {
    attachmentEncoding: 'arraybuffer',
    forceRfc822Attachments: true,
    maxNestingDepth: nestingMax,
  }).catch(() => {
    throw new ExternalError('the e-mail cannot be parsed');
  });
  return toEmail(email.text, email.html, {
    title: email.subject,
    publishTime: email.date,
    attachments: email.attachments.map(({ filename, mimeType, content }) => ({
      name: filename ?? (mimeType === 'message/rfc822' ? 'message.eml' : ''),
      bytes: new Uint8Array(content as ArrayBuffer),
    })),
  });
}

/** Reads a message that Outlook saved. */
function readMsg(bytes: Uint8Array): Email {
  try {
    return readOutlookMessage(bytes);
  } catch (error) {
    // The library has errors of its own for nothing: a damaged file makes it read beyond an end, or a property of nothing.
    throw new ExternalError('the Outlook message is damaged', { cause: error });
  }
}

function readOutlookMessage(bytes: Uint8Array): Email {
  const reader = new MsgReader(
    bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) as ArrayBuffer,
  );
  const data = reader.getFileData();
  if (data.error) throw new Error(data.error);
  const html = data.html ? new TextDecoder().decode(data.html) : data.bodyHtml;
  return toEmail(data.body, html, {
    title: data.subject,
    publishTime: toTime(data.clientSubmitTime ?? data.messageDeliveryTime),
    attachments: (data.attachments ?? []).slice(0, attachmentsMax).map((attachment) => {
      const { fileName, content } = reader.getAttachment(attachment);
      return { name: attachment.innerMsgContent ? 'message.msg' : fileName, bytes: content };
    }),
  });
}

function toEmail(
  text: string | undefined,
  html: string | undefined,
  {
    title,
    publishTime,
    attachments,
  }: { title: string | undefined; publishTime: string | undefined; attachments: Attachment[] },
): Email {
  return {
    text: text?.trim() ? text : htmlToText(html ?? ''),
    ...(title?.trim() ? { title: title.trim().slice(0, 300) } : {}),
    ...(publishTime ? { publishTime } : {}),
    attachments: attachments.slice(0, attachmentsMax),
  };
}

const toTime = (text: string | undefined): string | undefined => {
  const time = new Date(text ?? '');
  return Number.isNaN(time.getTime()) ? undefined : time.toISOString();
};
