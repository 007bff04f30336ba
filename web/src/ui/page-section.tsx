type Props = { title: string; actions?: React.ReactNode; children: React.ReactNode };

/** A part of a page with its heading. */
export function PageSection({ title, actions, children }: Props) {
  return (
    <section className="flex min-w-0 flex-col gap-2.5">
      <div className="flex min-h-7 flex-wrap items-center justify-between gap-2">
        <h2 className="text-12 font-strong text-muted">{title}</h2>
        {actions && <div className="flex flex-wrap items-center gap-1.5">{actions}</div>}
      </div>
      {children}
    </section>
  );
}
