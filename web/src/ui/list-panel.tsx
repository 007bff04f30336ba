import { classes } from '../lib/text.ts';

type Props = { list: React.ReactNode; panel: React.ReactNode | null };

/** A list with a panel beside it. In a window below 1024 px the panel covers the list, which keeps its place. */
export function ListAndPanel({ list, panel }: Props) {
  return (
    <div className="relative flex min-h-0 grow">
      <div className={classes('min-w-0 grow', panel !== null && 'max-lg:invisible')}>{list}</div>
      {panel !== null && (
        <aside className="absolute inset-0 flex animate-[slide-in_140ms_var(--ease-out)] flex-col bg-surface lg:static lg:w-[clamp(28rem,38vw,44rem)] lg:shrink-0 lg:border-l">
          {panel}
        </aside>
      )}
    </div>
  );
}
