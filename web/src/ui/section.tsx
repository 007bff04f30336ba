import { formatNumber } from '../lib/text.ts';

type Props = {
  title: string;
  count?: number | undefined;
  actions?: React.ReactNode;
  /** 2 below the title of a page, 3 below that of a panel or an entry. */
  level?: 2 | 3;
  /** The content is fields, which are farther apart. */
  isForm?: boolean;
  children: React.ReactNode;
};

/** A part of a page or panel below its own small heading. */
export function Section({ title, count, actions, level = 3, isForm, children }: Props) {
  const Heading = `h${level}` as const;
  return (
    <section className={`flex min-w-0 flex-col ${isForm ? 'gap-4' : 'gap-2'}`}>
      <div className={`flex flex-wrap items-center gap-2 ${actions ? 'min-h-7' : ''}`}>
        <Heading className="text-12 font-strong text-muted">{title}</Heading>
        {count !== undefined && <span className="tabular text-12 text-faint">{formatNumber(count)}</span>}
        {actions && <div className="ml-auto flex flex-wrap items-center gap-1.5">{actions}</div>}
      </div>
      {children}
    </section>
  );
}
