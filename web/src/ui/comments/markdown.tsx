import { lexer, type Token, type Tokens } from 'marked';
import { Fragment, useMemo } from 'react';

/** Beyond this depth of quotes and lists the text is shown as it is written. */
const depthMax = 16;

/**
 * Markdown as elements. HTML in it is shown as text, images are links, so that nothing is loaded, and only links to web and mail addresses lead
 * anywhere. Text that the parser cannot read, such as thousands of nested quotes, is shown as it is written.
 */
export default function Markdown({ text }: { text: string }) {
  const tokens = useMemo(() => {
    try {
      return lexer(text, { gfm: true, breaks: true });
    } catch {
      return undefined;
    }
  }, [text]);
  return (
    <div className="flex max-w-[72ch] flex-col gap-2 wrap-anywhere">
      {tokens ? renderAll(tokens, 0) : <span className="whitespace-pre-wrap">{text}</span>}
    </div>
  );
}

const renderAll = (tokens: readonly Token[], depth: number): React.ReactNode =>
  tokens.map((token, index) => (
    <Fragment key={index}>
      {isMention(token, tokens[index - 1]) ? token.raw : renderToken(token as Tokens.Generic, depth + 1)}
    </Fragment>
  ));

/** Returns whether a link is the name of a person after `@`, which only looks like an address to write to. */
const isMention = (token: Token, before: Token | undefined): boolean =>
  token.type === 'link' && token.raw.includes('@') && before?.type === 'text' && before.raw.endsWith('@');

function renderToken(token: Tokens.Generic, depth: number): React.ReactNode {
  const asWritten = <span className="whitespace-pre-wrap">{token.raw}</span>;
  if (depth > depthMax) return asWritten;
  const children = token.tokens ? renderAll(token.tokens, depth) : String(token['text'] ?? token.raw);
  switch (token.type) {
    case 'space':
      return null;
    case 'paragraph':
      return <p>{children}</p>;
    case 'heading':
      return <p className="font-strong">{children}</p>;
    case 'strong':
      return <strong className="font-strong">{children}</strong>;
    case 'em':
      return <em>{children}</em>;
    case 'del':
      return <del>{children}</del>;
    case 'codespan':
      return <code className="rounded-small border px-1 font-mono text-12">{token['text']}</code>;
    case 'code':
      return (
        <pre tabIndex={0} className="overflow-x-auto rounded-control border p-2 font-mono text-12">
          {token['text']}
        </pre>
      );
    case 'blockquote':
      return <blockquote className="flex flex-col gap-2 border-l-2 pl-3 text-muted">{children}</blockquote>;
    case 'list':
      return <List list={token as Tokens.List} depth={depth} />;
    case 'hr':
      return <hr />;
    case 'br':
      return <br />;
    case 'link':
      return <SafeLink href={token['href']}>{children}</SafeLink>;
    case 'image':
      return <SafeLink href={token['href']}>{token['text'] || token['href']}</SafeLink>;
    case 'text':
    case 'escape':
      return children;
    default:
      return asWritten;
  }
}

function List({ list: { ordered, start, items }, depth }: { list: Tokens.List; depth: number }) {
  const entries = items.map(({ tokens }, index) => <li key={index}>{renderAll(tokens, depth)}</li>);
  return ordered ? (
    <ol start={start === '' ? undefined : start} className="flex list-decimal flex-col gap-1 pl-5">
      {entries}
    </ol>
  ) : (
    <ul className="flex list-disc flex-col gap-1 pl-5">{entries}</ul>
  );
}

function SafeLink({ href, children }: { href: string; children: React.ReactNode }) {
  if (!/^(?:https?:\/\/|mailto:)/i.test(href)) return children;
  return (
    <a href={href} target="_blank" rel="noopener noreferrer" className="text-accent underline underline-offset-2">
      {children}
    </a>
  );
}
