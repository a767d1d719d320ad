/** The part of html-to-text that is used; the package has no types of its own. */
declare module "html-to-text" {
  export interface BlockTextBuilder {
    openBlock(options?: { readonly leadingLineBreaks?: number }): void;
    closeBlock(options?: { readonly trailingLineBreaks?: number }): void;
    addInline(text: string): void;
  }

  export interface HtmlNode {
    readonly name: string;
    readonly children: readonly HtmlNode[];
  }

  export type Formatter = (
    node: HtmlNode,
    walk: (children: readonly HtmlNode[], builder: BlockTextBuilder) => void,
    builder: BlockTextBuilder,
  ) => void;

  export interface ConvertOptions {
    readonly wordwrap: false;
    readonly whitespaceCharacters: string;
    readonly baseElements: { readonly selectors: readonly string[] };
    readonly formatters: Readonly<Record<string, Formatter>>;
    readonly selectors: readonly {
      readonly selector: string;
      readonly format?: string;
      readonly options?: Readonly<Record<string, unknown>>;
    }[];
  }

  export function convert(html: string, options: ConvertOptions): string;
}
