import { Check, Copy } from 'lucide-react';
import { useState } from 'react';
import { texts } from '../texts/common.ts';

/** A command or an identifier with a button that copies it. */
export function CopyText({ text }: { text: string }) {
  const [isCopied, setIsCopied] = useState(false);
  const Icon = isCopied ? Check : Copy;
  return (
    <span className="mt-3 inline-flex max-w-full items-center gap-2 rounded-control border bg-ground py-1 pr-1 pl-2.5 text-left font-mono text-12 text-ink">
      <code className="break-all">{text}</code>
      <button
        type="button"
        aria-label={isCopied ? texts.copied : texts.copy}
        onClick={() => void navigator.clipboard.writeText(text).then(() => setIsCopied(true))}
        className="flex size-6 shrink-0 items-center justify-center rounded-small text-faint hover:bg-hover hover:text-ink"
      >
        <Icon className="size-3.5" aria-hidden />
      </button>
    </span>
  );
}
