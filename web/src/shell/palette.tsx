import { lazy, Suspense, useState } from 'react';
import { useReturnTarget } from '../lib/focus-return.ts';
import { PaletteLoading } from './palette-loading.tsx';

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
