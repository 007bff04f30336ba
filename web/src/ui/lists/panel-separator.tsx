import { useState } from 'react';
import { defaultWidth, fitWidth, maxWidthIn, minWidth } from '../../lib/panel-width.ts';
import { classes } from '../../lib/text.ts';
import { texts } from '../../texts/common.ts';

const stepPx = 16;

type Props = {
  panelId: string;
  width: number;
  /** The width of the list and the panel together. */
  space: number;
  /** Called while the separator is dragged. */
  onResize: (width: number) => void;
  /** Called with the width to keep. */
  onStore: (width: number) => void;
};

/**
 * The left edge of a panel: dragged, or moved by the arrow keys (with Shift four times as far), Home and End. A double-click restores the
 * usual width.
 */
export function PanelSeparator({ panelId, width, space, onResize, onStore }: Props) {
  const [grip, setGrip] = useState<number | null>(null);
  const moveBy = (event: React.KeyboardEvent): number | undefined => {
    const step = event.shiftKey ? 4 * stepPx : stepPx;
    return { ArrowLeft: width + step, ArrowRight: width - step, Home: minWidth, End: maxWidthIn(space) }[event.key];
  };
  return (
    // A separator that moves is a widget: https://www.w3.org/WAI/ARIA/apg/patterns/windowsplitter/
    <div
      role="separator"
      tabIndex={0}
      aria-label={texts.panelWidth}
      aria-orientation="vertical"
      aria-controls={panelId}
      aria-valuenow={width}
      aria-valuemin={minWidth}
      aria-valuemax={maxWidthIn(space)}
      aria-valuetext={texts.pixels(width)}
      title={texts.panelWidth}
      onKeyDown={(event) => {
        const next = moveBy(event);
        if (next === undefined) return;
        event.preventDefault();
        onStore(fitWidth(next, space));
      }}
      onDoubleClick={() => onStore(defaultWidth)}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        setGrip(event.clientX + width);
      }}
      onPointerMove={(event) => grip !== null && onResize(fitWidth(grip - event.clientX, space))}
      onLostPointerCapture={() => {
        if (grip !== null) onStore(width);
        setGrip(null);
      }}
      className={classes(
        'absolute inset-y-0 -left-1 z-20 w-2 cursor-col-resize touch-none bg-clip-content px-[3px] select-none hover:bg-line-strong max-lg:hidden',
        grip !== null && 'bg-accent hover:bg-accent',
      )}
    />
  );
}
