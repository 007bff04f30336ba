import { useId, useRef, useState } from 'react';
import {
  fitWidth,
  readPanelWidth,
  storePanelWidth,
  defaultWidth,
  maxWidthIn,
  minWidth,
} from '../../lib/panel-width.ts';
import { classes } from '../../lib/text.ts';
import { useListFocus } from '../../lib/focus-return.ts';
import { useWidth } from '../../lib/use-width.ts';
import { texts } from '../../texts/common.ts';

type Props = { list: React.ReactNode; panel: React.ReactNode | null };

/**
 * A list with a panel beside it, whose width the reader can change. In a window below 1024 px the panel covers the list, which keeps its
 * place. When the panel closes, the focus returns to the list.
 */
export function ListAndPanel({ list, panel }: Props) {
  const container = useRef<HTMLDivElement>(null);
  const space = useWidth(container);
  const [chosen, setChosen] = useState(readPanelWidth);
  const width = fitWidth(chosen, space);
  const id = useId();
  const listElement = useRef<HTMLDivElement>(null);
  const listFocus = useListFocus(listElement, panel !== null);
  return (
    <div ref={container} className="relative flex min-h-0 grow">
      <div ref={listElement} className={classes('min-w-0 grow', panel !== null && 'max-lg:invisible')} {...listFocus}>
        {list}
      </div>
      {panel !== null && (
        <aside
          id={id}
          data-panel
          style={{ '--panel-width': `${width}px` } as React.CSSProperties}
          className="absolute inset-0 flex animate-[slide-in_140ms_var(--ease-out)] flex-col bg-surface lg:relative lg:w-(--panel-width) lg:shrink-0 lg:border-l"
        >
          <PanelSeparator
            panelId={id}
            width={width}
            space={space}
            onResize={setChosen}
            onStore={(next) => {
              setChosen(next);
              storePanelWidth(next);
            }}
          />
          {panel}
        </aside>
      )}
    </div>
  );
}

const stepPx = 16;

type SeparatorProps = {
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
function PanelSeparator({ panelId, width, space, onResize, onStore }: SeparatorProps) {
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
