import { Check, Copy } from 'lucide-react';
import { useRef, useState } from 'react';
import { classes } from '../../lib/text.ts';
import { texts } from '../../texts/common.ts';
import { IconButton } from '../button.tsx';

type Props = { text: string; label: string; isWrapped?: boolean };

/** Text to copy: a command, a configuration or a secret. */
export function CodeBlock({ text, label, isWrapped }: Props) {
  const [isCopied, setIsCopied] = useState(false);
  const code = useRef<HTMLPreElement>(null);
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      setIsCopied(true);
    } catch {
      // Pages without HTTPS have no clipboard, and a browser may refuse: the text is selected, to be copied by hand.
      getSelection()?.selectAllChildren(code.current!);
    }
  };
  return (
    <div className="relative rounded-control border bg-ground">
      <pre
        ref={code}
        tabIndex={0}
        role="group"
        aria-label={label}
        className={classes(
          'overflow-x-auto py-2 pr-10 pl-3 font-mono text-12',
          isWrapped && 'max-h-60 overflow-y-auto wrap-anywhere whitespace-pre-wrap',
        )}
      >
        {text}
      </pre>
      <IconButton
        label={isCopied ? texts.copied : texts.copy}
        onClick={() => void copy()}
        className="absolute top-0.5 right-0.5 bg-ground"
      >
        {isCopied ? <Check className="size-3.5 text-good" aria-hidden /> : <Copy className="size-3.5" aria-hidden />}
      </IconButton>
    </div>
  );
}
