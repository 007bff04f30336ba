import { useId, useRef, useState } from 'react';
import { fitWidth, readPanelWidth, storePanelWidth } from '../../lib/panel-width.ts';
import { classes } from '../../lib/text.ts';
import { useListFocus } from '../../lib/focus-return.ts';
import { useWidth } from '../../lib/use-width.ts';
import { PanelSeparator } from './panel-separator.tsx';

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
