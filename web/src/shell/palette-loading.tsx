import { texts } from '../texts/common.ts';
import { paletteFrame } from './palette-frame.ts';

type Props = { text: string; onChange: (text: string) => void; onClose: () => void };

/** Takes what the user types while the command palette loads. */
export function PaletteLoading({ text, onChange, onClose }: Props) {
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
