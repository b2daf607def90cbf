import type { ComponentChildren, ComponentType, VNode } from "preact";
import type { List } from "../query.ts";
import { queryOf } from "../router.ts";
import { type Buttons, DialogButtons, useOpenDialog } from "./dialog-buttons.tsx";
import { TextFilter } from "./filter.tsx";
import { Empty, type EmptyProps, ListContent } from "./list.tsx";
import { Section } from "./page.tsx";

export interface FrameProps {
  title: string;
  actions?: ComponentChildren;
  children: ComponentChildren;
}

interface ItemListProps<T> extends Pick<EmptyProps, "command"> {
  title: string;
  /** Names the list for a screen reader. Absent: the title. */
  label?: string;
  list: List<T>;
  /** Those of the heading. */
  buttons?: Buttons;
  /** What is before them. */
  beside?: ComponentChildren;
  /** Those of an item, which `row` places. */
  itemButtons?: (item: T) => Buttons;
  row: (item: T, buttons: VNode) => ComponentChildren;
  /** If given, a field filters the loaded items by it. */
  nameOf?: (item: T) => string;
  /** Other filters. */
  filters?: ComponentChildren;
  /** Whether a loaded item fits those that the service does not have. Absent: there are none. */
  fits?: ((item: T) => boolean) | undefined;
  /** Said if there is no item. */
  empty: string;
  /** Said if none has the name. Absent: as if there is none. */
  noneNamed?: string;
  /** Absent: the list is a section of a page. */
  Frame?: ComponentType<FrameProps>;
  /** Between the filters and the list. */
  children?: ComponentChildren;
}

/** A list with what can be done with its items, and the dialogs for it. */
export function ItemList<T>(props: ItemListProps<T>) {
  const { title, label = title, list, beside, row, nameOf, filters, fits, children } = props;
  const { buttons = [], itemButtons = () => [], Frame = Section } = props;
  const { open, dialog } = useOpenDialog(list.reload, buttons);
  const text = nameOf ? queryOf("filter").normalize().toLowerCase() : "";
  const { empty, noneNamed, command } = props;
  const isFirst = !text && command && list.items?.length === 0 && !list.hasMore;
  const [next, ...others] = buttons.filter((each) => each !== false);
  const inHeading = isFirst ? others : buttons;
  const isUnknown = !text && command && list.items === undefined && list.error === undefined;
  const nothing =
    text && noneNamed ? (
      <Empty title={noneNamed} />
    ) : (
      <Empty
        title={empty}
        command={command}
        button={
          isFirst && next && <DialogButtons buttons={[{ ...next, kind: "primary" }]} open={open} />
        }
      />
    );
  return (
    <Frame
      title={title}
      actions={
        (beside || inHeading.some(Boolean)) && (
          <>
            {beside}
            <DialogButtons buttons={inHeading} open={open} isUnknown={Boolean(isUnknown)} />
          </>
        )
      }
    >
      {(nameOf || filters) && (
        <div class="filters">
          {nameOf && <TextFilter name="filter" label="Filter by name" />}
          {filters}
        </div>
      )}
      {children}
      <ListContent
        list={list}
        label={label}
        filter={
          fits ?? (nameOf && ((item) => nameOf(item).normalize().toLowerCase().includes(text)))
        }
        row={(item) =>
          row(item, <DialogButtons kind="small" buttons={itemButtons(item)} open={open} />)
        }
        empty={nothing}
      />
      {dialog}
    </Frame>
  );
}
