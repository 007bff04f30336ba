type Props = { figures: readonly { label: string; value: React.ReactNode; hint?: string | undefined }[] };

/** Key figures side by side. */
export function Figures({ figures }: Props) {
  return (
    <dl className="flex flex-wrap gap-x-10 gap-y-4">
      {figures.map(({ label, value, hint }) => (
        <div key={label} title={hint} className="flex flex-col-reverse">
          <dt className="text-12 text-muted">{label}</dt>
          <dd className="tabular text-20">{value}</dd>
        </div>
      ))}
    </dl>
  );
}
