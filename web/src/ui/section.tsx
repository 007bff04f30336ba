type Props = { title: string; count?: number | undefined; action?: React.ReactNode; children: React.ReactNode };

/** A part of a page or panel below its own small heading. */
export function Section({ title, count, action, children }: Props) {
  return (
    <section className="flex min-w-0 flex-col gap-2">
      <div className="flex items-center gap-2">
        <h3 className="text-12 font-strong text-muted">{title}</h3>
        {count !== undefined && <span className="tabular text-12 text-faint">{count}</span>}
        {action && <span className="ml-auto">{action}</span>}
      </div>
      {children}
    </section>
  );
}
