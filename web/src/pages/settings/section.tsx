type Props = { title: string; description: React.ReactNode; action?: React.ReactNode; children: React.ReactNode };

/** A section of the settings: what it is for, its one action, and its content. */
export function SettingsSection({ title, description, action, children }: Props) {
  return (
    <section className="flex min-w-0 flex-col gap-4">
      <div className="flex flex-wrap items-start justify-between gap-x-6 gap-y-3">
        <div className="min-w-0">
          <h2 className="text-15 font-strong break-words">{title}</h2>
          <p className="max-w-[72ch] text-muted">{description}</p>
        </div>
        {action}
      </div>
      {children}
    </section>
  );
}
