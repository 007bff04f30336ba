import { useState } from 'react';
import { lookupMax } from '../../api/indicators.ts';
import { splitValues } from '../../lib/split-values.ts';
import { texts } from '../../texts/indicators.ts';
import { Button } from '../../ui/button.tsx';

type Props = { values: readonly string[]; onLookUp: (values: string[]) => void };

/** Where values are pasted. Ctrl or Cmd with Enter looks them up. */
export function LookupForm({ values, onLookUp }: Props) {
  const [text, setText] = useState(values.join('\n'));
  const found = splitValues(text);
  const lookUp = (): void => onLookUp(found);
  return (
    <form
      className="flex flex-col gap-2 border-b p-4"
      onSubmit={(event) => {
        event.preventDefault();
        lookUp();
      }}
    >
      <textarea
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || !(event.metaKey || event.ctrlKey)) return;
          event.preventDefault();
          lookUp();
        }}
        aria-label={texts.paste}
        placeholder={texts.paste}
        rows={Math.min(8, Math.max(3, values.length + 1))}
        spellCheck={false}
        className="w-full resize-y rounded-control border border-line-strong bg-surface px-2.5 py-1.5 font-mono text-12 leading-5 placeholder:font-sans placeholder:text-faint"
      />
      <div className="flex items-center gap-3">
        <Button kind="primary" type="submit" disabled={found.length === 0}>
          {texts.lookUp}
        </Button>
        {found.length > lookupMax && (
          <span className="text-12 text-muted">{texts.limited(lookupMax, found.length)}</span>
        )}
      </div>
    </form>
  );
}
