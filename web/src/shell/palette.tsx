import { lazy, Suspense, useState } from 'react';
import { useReturnTarget } from '../lib/focus-return.ts';
import { texts } from '../texts/common.ts';
import { paletteFrame } from './palette-frame.ts';

const CommandPalette = lazy(() => import('./command-palette.tsx'));

/** The command palette, which takes what the user types from the start, also while its code loads. */
export function Palette({ onClose }: { onClose: () => void }) {
  const [typed, setTyped] = useState('');
  const returnTarget = useReturnTarget();
  const cancel = (): void => {
    onClose();
    returnTarget()?.focus();
  };
  return (
    <Suspense fallback={<PaletteLoading text={typed} onChange={setTyped} onClose={cancel} />}>
      <CommandPalette {...{ typed, returnTarget, onClose }} />
    </Suspense>
  );
}

type Props = { text: string; onChange: (text: string) => void; onClose: () => void };

/** Takes what the user types while the command palette loads. */
function PaletteLoading({ text, onChange, onClose }: Props) {
  return (
    <div className={paletteFrame.popup}>
      <input
        autoFocus
        aria-label={texts.search}
        placeholder={texts.search}
        value={text}
        onChange={({ target }) => onChange(target.value)}
        onKeyDown={({ key }) => key === 'Escape' && onClose()}
        className={paletteFrame.input}
      />
    </div>
  );
}
