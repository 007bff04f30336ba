import { createRequire } from 'node:module';
import type { default as MsgReaderModule } from '@kenjiuno/msgreader';
import PostalMime from 'postal-mime';
import { ExternalError } from '../../../platform/lib/external-error.ts';
import { htmlToText } from '../rss/html-text.ts';
import type { ReportFile } from './report-file.ts';

/** An attached file. */
export type Attachment = { name: string; bytes: Uint8Array };
/** A message whose attachments have not been read. */
export type Email = ReportFile & { attachments: Attachment[] };

// A CommonJS module whose default export loaders understand differently.
const { default: MsgReader } = createRequire(import.meta.url)('@kenjiuno/msgreader') as typeof MsgReaderModule;

const attachmentsMax = 20;
const nestingMax = 10;

/** Reads a message as RFC 5322 and MIME have it. Its headers besides subject and date are not part of the report. */
export async function readEml(bytes: Uint8Array): Promise<Email> {
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
export function readMsg(bytes: Uint8Array): Email {
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
