import { Key } from '../ui/key.tsx';

type Props = { isTooltip: boolean; keys?: readonly string[]; children: string };

/**
 * The label of an entry of the sidebar. Beside a lone icon it is a tooltip that appears on hover and focus, and stays the accessible name. The
 * entry needs the classes `group relative`.
 */
export function SidebarLabel({ isTooltip, keys = [], children }: Props) {
  if (!isTooltip) return <span className="truncate">{children}</span>;
  return (
    <span className="pointer-events-none absolute left-full z-40 ml-3 flex h-7 items-center gap-2 rounded-control bg-raised px-2 text-12 font-normal whitespace-nowrap text-ink opacity-0 shadow-float group-hover:opacity-100 group-focus-visible:opacity-100">
      {children}
      <span className="flex gap-0.5" aria-hidden>
        {keys.map((key) => (
          <Key key={key}>{key}</Key>
        ))}
      </span>
    </span>
  );
}
