import { Search, X } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { useHotkeys } from '../../lib/hotkeys.ts';
import { texts } from '../../texts/common.ts';

const pauseMs = 250;

type Props = { label: string; value: string | undefined; onChange: (value: string | undefined) => void };

/** A search field that reports its text after a short pause in typing. `/` puts the cursor into it, Escape leaves it. */
export function SearchField({ label, value = '', onChange }: Props) {
  const input = useRef<HTMLInputElement>(null);
  const [text, setText] = useState(value);
  const [reported, setReported] = useState(value);
  const [seen, setSeen] = useState(value);
  if (value !== seen) {
    setSeen(value);
    // The value changed elsewhere, for example by the back button.
    if (value !== reported) setText(value);
  }
  const report = useRef(onChange);
  useEffect(() => {
    report.current = onChange;
  });
  useEffect(() => {
    if (text.trim() === value) return;
    const timer = setTimeout(() => {
      setReported(text.trim());
      report.current(text.trim() || undefined);
    }, pauseMs);
    return () => clearTimeout(timer);
  }, [text, value]);
  useHotkeys({ '/': () => input.current?.select() });
  return (
    <span className="relative flex h-7 w-40 max-w-64 grow items-center max-md:w-full max-md:max-w-none">
      <Search className="pointer-events-none absolute left-2 size-3.5 text-faint" aria-hidden />
      <input
        ref={input}
        type="text"
        role="searchbox"
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => event.key === 'Escape' && input.current?.blur()}
        placeholder={label}
        aria-label={label}
        aria-keyshortcuts="/"
        className="h-full w-full rounded-control border bg-surface pr-7 pl-7 placeholder:text-faint"
      />
      {text !== '' && (
        <button
          type="button"
          aria-label={texts.removeFilter(label)}
          onClick={() => {
            setText('');
            setReported('');
            onChange(undefined);
          }}
          className="absolute right-0 flex h-full items-center px-2 text-faint hover:text-ink"
        >
          <X className="size-3.5" aria-hidden />
        </button>
      )}
    </span>
  );
}
